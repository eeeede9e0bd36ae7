import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutionArgs,
  experimentalExecuteIncrementally,
  GraphQLDeferDirective,
  type GraphQLError,
  getDirectiveValues,
  getOperationAST,
  getVariableValues,
  Kind,
  legacyExecuteIncrementally,
  type OperationDefinitionNode,
  separateOperations,
  visit,
} from 'graphql';
import { type CompiledOperation, compileOperation } from '../../execution/compile.ts';
import { executeFallback } from '../../execution/fallback-executor.ts';
import type { GatewayContext } from '../../graphql/context.ts';
import { deprecationsOf } from '../../graphql/deprecations.ts';
import type { Deprecation } from '../../graphql/result.ts';
import type { DeliveryFormat } from './delivery.ts';
import { shortenVariables } from './shorten-input.ts';
import type { EngineParts, EngineResult } from './typed-result.ts';

/** The arguments that all executions of a document share. */
type CommonArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'hideSuggestions' | 'options'>;

/** A parsed and validated document with its operations. */
export class PreparedDocument {
  readonly document: DocumentNode;
  readonly #args: CommonArgs;
  /** By the name of each operation: a document of it and the fragments that it uses. */
  readonly #documents: Readonly<Record<string, DocumentNode>>;
  readonly #operations = new Map<string | undefined, PreparedOperation>();

  constructor(args: CommonArgs) {
    this.document = args.document;
    this.#args = args;
    this.#documents = separateOperations(args.document);
  }

  /**
   * Returns the operation of this name, or without a name the only one; undefined if there is none.
   */
  find(operationName: string | undefined): PreparedOperation | undefined {
    const known = this.#operations.get(operationName);
    if (known !== undefined) return known;
    const definition = getOperationAST(this.document, operationName);
    if (!definition) return undefined;
    const document = this.#documents[definition.name?.value ?? ''] ?? this.document;
    const operation = new PreparedOperation(definition, { ...this.#args, document, operationName });
    this.#operations.set(operationName, operation);
    return operation;
  }
}

/** An operation of a prepared document. */
export class PreparedOperation {
  readonly definition: OperationDefinitionNode;
  /** The deprecated fields that it uses, whatever its variables skip. */
  readonly deprecations: readonly Deprecation[];
  /** Whether it has introspection fields, which take milliseconds. */
  readonly isIntrospection: boolean;
  /** Whether it has a `@defer`. */
  readonly isDeferred: boolean;
  readonly #whole: ExecutionArgs;
  readonly #deferred: ExecutionArgs;
  /** The directives with a nullable variable; graphql-js refuses null only when it reaches them. */
  readonly #conditions: DirectiveNode[] = [];
  #uses: 'none' | 'one' | 'several' = 'none';
  #compiled: CompiledOperation | undefined;

  /** @param args with a document of only this operation and its fragments */
  constructor(definition: OperationDefinitionNode, args: ExecutionArgs) {
    const { schema, document } = args;
    this.definition = definition;
    this.deprecations = deprecationsOf(schema, document);
    this.isIntrospection = hasIntrospection(document);
    const nullable = (definition.variableDefinitions ?? [])
      .filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE)
      .map(({ variable }) => variable.name.value);
    const whole = visit(document, {
      Directive: (node) => {
        const values = (node.arguments ?? []).map(({ value }) => value);
        if (values.some((one) => one.kind === Kind.VARIABLE && nullable.includes(one.name.value))) {
          this.#conditions.push(node);
        }
        return node.name.value === GraphQLDeferDirective.name ? null : undefined;
      },
    });
    this.isDeferred = whole !== document;
    this.#whole = { ...args, document: whole };
    this.#deferred = { ...args, enableEarlyExecution: true };
  }

  /**
   * Executes the operation without deferring anything. From its second use it is executed by
   * compiled code if it can be compiled, otherwise by graphql-js. (Yoga's own executor rounds large
   * integers in variable defaults.)
   */
  execute(
    variableValues: Readonly<Record<string, unknown>>,
    contextValue: GatewayContext,
  ): EngineResult | Promise<EngineResult> {
    if (this.#uses !== 'several') this.#countUse();
    const errors = this.#check(variableValues);
    if (errors !== undefined) return { errors };
    return (
      this.#compiled?.(contextValue, variableValues) ??
      executeFallback({ ...this.#whole, variableValues, contextValue })
    );
  }

  /**
   * Executes the operation by graphql-js, with its deferred fragments as later parts in this
   * format. All fields start immediately. The result is whole if the variables turn every `@defer`
   * off.
   */
  executeIncrementally(
    variableValues: Readonly<Record<string, unknown>>,
    contextValue: GatewayContext,
    format: DeliveryFormat,
  ): EngineResult | EngineParts | Promise<EngineResult | EngineParts> {
    const errors = this.#check(variableValues);
    if (errors !== undefined) return { errors };
    const args = { ...this.#deferred, variableValues, contextValue };
    return format === 'incrementalSpec=v0.2'
      ? experimentalExecuteIncrementally(args)
      : legacyExecuteIncrementally(args);
  }

  /**
   * Checks variables that contain long text, which is shortened first, and the conditions of
   * directives, so that no write is done before one of them fails. Undefined without errors.
   */
  #check(given: Readonly<Record<string, unknown>>): readonly GraphQLError[] | undefined {
    const { variableDefinitions = [] } = this.definition;
    if (variableDefinitions.length === 0) return undefined;
    const shortened = shortenVariables(given);
    if (shortened === given && this.#conditions.length === 0) return undefined;
    const { schema, hideSuggestions, options } = this.#whole;
    const { errors, variableValues } = getVariableValues(schema, variableDefinitions, shortened, {
      maxErrors: options?.maxCoercionErrors ?? 0,
      hideSuggestions: hideSuggestions ?? false,
    });
    if (errors !== undefined) return errors;
    try {
      for (const node of this.#conditions) {
        const directive = schema.getDirective(node.name.value);
        if (directive) getDirectiveValues(directive, { directives: [node] }, variableValues);
      }
      return undefined;
    } catch (error) {
      return [error as GraphQLError];
    }
  }

  /**
   * Compiles the operation when it is used a second time: compiling costs more than executing once.
   */
  #countUse(): void {
    const { schema, document, operationName } = this.#whole;
    if (this.#uses === 'one') {
      this.#compiled = compileOperation(schema, document, operationName ?? undefined);
    }
    this.#uses = this.#uses === 'none' ? 'one' : 'several';
  }
}

function hasIntrospection(document: DocumentNode): boolean {
  let isFound = false;
  visit(document, {
    Field({ name }) {
      if (/^__(?:schema|type)$/.test(name.value)) isFound = true;
    },
  });
  return isFound;
}
