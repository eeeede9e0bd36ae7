import {
  type DocumentNode,
  type ExecutionArgs,
  experimentalExecuteIncrementally,
  GraphQLDeferDirective,
  GraphQLError,
  GraphQLStreamDirective,
  getOperationAST,
  Kind,
  legacyExecuteIncrementally,
  type OperationDefinitionNode,
  separateOperations,
  TokenKind,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import type { CompiledOperation, compileOperation } from '../execution/compile.ts';
import { conditionsOf } from '../execution/field-collector.ts';
import type { GatewayContext } from '../graphql/context.ts';
import { examineFields } from '../graphql/examine-fields.ts';
import { invalidVariables } from '../graphql/invalid-input.ts';
import type { Deprecation } from '../graphql/result.ts';
import type { OperationLabel } from '../request/request-environment.ts';
import type { Delivery, EngineParts } from './parts.ts';
import type { EngineResult } from './result.ts';
import { type RootFields, rootFieldsOf } from './root-fields.ts';
import { operationCosts } from './use-operation-limits.ts';

/** The arguments that all executions of a document share. */
type CommonArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'options'> & {
  /** Undefined if no operation can be compiled, because the schema has fields of others. */
  readonly compile?: typeof compileOperation;
  readonly introspection: boolean | 'keys';
};

/** The directives of incremental delivery. A server with the schema may have `@stream`. */
const incremental = [GraphQLDeferDirective.name, GraphQLStreamDirective.name];

/**
 * Upper bounds of the memory of a document, in bytes, from heap measurements. A field is one that an
 * operation has with fragments expanded, in two variants of compiled code.
 */
const bytes = { document: 2048, character: 2, node: 1024, comment: 256, field: 256 };

/** A parsed and validated document with its operations. */
export class PreparedDocument {
  /** The names of its operations; an empty one if it has no name. */
  readonly operationNames: readonly string[];
  readonly #args: CommonArgs;
  /** By the name of each operation: a document of it and the fragments that it uses. */
  readonly #documents: Readonly<Record<string, DocumentNode>>;
  readonly #operations = new Map<string | undefined, PreparedOperation>();

  constructor(args: CommonArgs) {
    this.#args = args;
    this.#documents = separateOperations(args.document);
    this.operationNames = Object.keys(this.#documents);
  }

  /**
   * Estimates its memory: its text, its nodes with tokens and locations, its comments, which are
   * tokens too, and the compiled code of all operations.
   */
  estimateBytes(text: string): number {
    const { document } = this.#args;
    let size = bytes.document + text.length * bytes.character;
    visit(document, {
      enter() {
        size += bytes.node;
      },
    });
    for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
      if (token.kind === TokenKind.COMMENT) size += bytes.comment;
    }
    for (const { maxFields } of operationCosts(document)) size += maxFields * bytes.field;
    return size;
  }

  /** Returns the operation of this name, or without a name the only one, if there is one. */
  find(operationName: string | undefined): PreparedOperation | undefined {
    const known = this.#operations.get(operationName);
    if (known !== undefined) return known;
    const definition = getOperationAST(this.#args.document, operationName);
    if (!definition) return undefined;
    const document = this.#documents[definition.name?.value ?? ''] ?? this.#args.document;
    const operation = new PreparedOperation(definition, { ...this.#args, document, operationName });
    this.#operations.set(operationName, operation);
    return operation;
  }
}

/** An operation of a prepared document. */
export class PreparedOperation {
  readonly definition: OperationDefinitionNode;
  readonly label: OperationLabel;
  /** The deprecated fields that it uses, whatever its variables skip. */
  readonly deprecations: readonly Deprecation[];
  /** Whether an argument takes text or an id, which the result may repeat. */
  readonly takesText: boolean;
  readonly rootFields: RootFields;
  /** Whether it has introspection fields, which take milliseconds. */
  readonly isIntrospection: boolean;
  /** Whether it may be executed only for an accepted key. */
  readonly needsKey: boolean;
  /** Whether it has a `@defer`, for which graphql-js may take milliseconds. */
  readonly isDeferred: boolean;
  readonly #whole: ExecutionArgs & CommonArgs;
  /** The document with its `@defer`. */
  readonly #document: DocumentNode;
  /** The variables of conditions; graphql-js refuses a null only when it reaches the directive. */
  readonly #conditions: readonly VariableDefinitionNode[];
  #uses = 0;
  #compiled: CompiledOperation | undefined;

  /** @param args with a document of only this operation and its fragments */
  constructor(definition: OperationDefinitionNode, args: ExecutionArgs & CommonArgs) {
    const { schema, document } = args;
    this.definition = definition;
    const { operation: type, name } = definition;
    const shown = name?.value.slice(0, 64);
    this.label = { type, name: shown, title: shown === undefined ? type : `${type} ${shown}` };
    this.rootFields = rootFieldsOf(definition, document);
    const { deprecations, takesText } = examineFields(schema, document);
    this.deprecations = deprecations;
    this.takesText = takesText;
    const conditions = conditionsOf(document);
    this.#conditions = (definition.variableDefinitions ?? []).filter(({ variable }) =>
      conditions.includes(variable.name.value),
    );
    let isIntrospection = false;
    const whole = visit(document, {
      Field({ name }) {
        isIntrospection ||= /^__(?:schema|type)$/.test(name.value);
      },
      Directive: ({ name }) => (incremental.includes(name.value) ? null : undefined),
    });
    this.isIntrospection = isIntrospection;
    this.needsKey = isIntrospection && args.introspection === 'keys';
    this.isDeferred = whole !== document;
    this.#whole = { ...args, document: whole, hideSuggestions: args.introspection !== true };
    this.#document = document;
  }

  /**
   * Executes the operation. Given a format, graphql-js starts all fields immediately and returns
   * deferred fragments as later parts, or a whole result if the variables turn every `@defer` off.
   * Otherwise the result is whole: from compiled code, which is generated at the second use because
   * that costs more than executing once, or from graphql-js if the operation cannot be compiled.
   * (Yoga's own executor rounds large integers in variable defaults.)
   */
  execute(
    variableValues: Readonly<Record<string, unknown>>,
    contextValue: GatewayContext,
    format?: Delivery['format'],
  ): EngineResult | EngineParts | Promise<EngineResult | EngineParts> {
    const result = this.#execute(variableValues, contextValue, format);
    if (!('errors' in result) || 'data' in result) return result;
    // Without data, a variable is invalid.
    const error = invalidVariables(this.#whole, variableValues);
    return error ? { errors: [error] } : result;
  }

  #execute(
    variableValues: Readonly<Record<string, unknown>>,
    contextValue: GatewayContext,
    format: Delivery['format'] | undefined,
  ): ReturnType<PreparedOperation['execute']> {
    // Refused before anything is executed, so that no write is done before a condition fails.
    for (const { variable, defaultValue } of this.#conditions) {
      const value = variableValues[variable.name.value];
      if (value !== null && (value !== undefined || defaultValue?.kind !== Kind.NULL)) continue;
      const message = `Expected true or false for $${variable.name.value}, received null.`;
      return { errors: [new GraphQLError(message, { nodes: variable })] };
    }
    if (format === undefined) {
      const { schema, document, operationName, compile } = this.#whole;
      if (this.#uses < 2 && ++this.#uses === 2) {
        this.#compiled = compile?.(schema, document, operationName ?? undefined);
      }
      // The `execute` of graphql-js rejects every operation if the schema defines `@defer`.
      return (
        this.#compiled?.(contextValue, variableValues) ??
        experimentalExecuteIncrementally({ ...this.#whole, variableValues, contextValue })
      );
    }
    const deferred = { ...this.#whole, document: this.#document, enableEarlyExecution: true };
    const args = { ...deferred, variableValues, contextValue };
    return format === 'incrementalSpec=v0.2'
      ? experimentalExecuteIncrementally(args)
      : legacyExecuteIncrementally(args);
  }
}
