import {
  type DocumentNode,
  type ExecutionArgs,
  execute,
  type FieldNode,
  type GraphQLError,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { type CompiledOperation, compileOperation } from '../../execution/compile.ts';
import type { GatewayContext } from '../../graphql/context.ts';
import { deprecationsOf } from '../../graphql/deprecations.ts';
import type { Deprecation } from '../../graphql/result.ts';
import { shortenVariables } from './quoted-input.ts';
import type { EngineResult } from './typed-result.ts';

/** What all executions of a document have in common. */
type CommonArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'hideSuggestions' | 'options'>;

/** A document that was parsed and checked, with its operations. */
export class PreparedDocument {
  readonly document: DocumentNode;
  readonly #args: CommonArgs;
  readonly #operations = new Map<string | undefined, PreparedOperation>();

  constructor(args: CommonArgs) {
    this.document = args.document;
    this.#args = args;
  }

  /** The operation of this name, or the only one; undefined when there is none. */
  find(operationName: string | undefined): PreparedOperation | undefined {
    const known = this.#operations.get(operationName);
    if (known !== undefined) return known;
    const definition = getOperationAST(this.document, operationName);
    if (!definition) return undefined;
    const operation = new PreparedOperation(definition, { ...this.#args, operationName });
    this.#operations.set(operationName, operation);
    return operation;
  }
}

/** An operation of a prepared document. */
export class PreparedOperation {
  readonly definition: OperationDefinitionNode;
  /** The deprecated fields that its document uses. */
  readonly deprecations: readonly Deprecation[];
  /** Whether its document has aliases, under which a field may appear any number of times. */
  readonly hasAliases: boolean;
  /** Whether its document asks for the schema, which takes milliseconds. */
  readonly isIntrospection: boolean;
  readonly #args: ExecutionArgs;
  #uses: 'none' | 'one' | 'several' = 'none';
  #compiled: CompiledOperation | undefined;

  constructor(definition: OperationDefinitionNode, args: ExecutionArgs) {
    this.definition = definition;
    this.deprecations = deprecationsOf(args.schema, args.document);
    const fields = fieldsOf(args.document);
    this.hasAliases = fields.some(({ alias }) => alias !== undefined);
    this.isIntrospection = fields.some(({ name }) => /^__(?:schema|type)$/.test(name.value));
    this.#args = args;
  }

  /**
   * Executes it: when it is used again by code compiled for it, where that answers the same, else by
   * graphql-js. (Yoga's own executor rounds large integers in defaults of variables.)
   */
  execute(
    variableValues: Readonly<Record<string, unknown>>,
    contextValue: GatewayContext,
  ): EngineResult | Promise<EngineResult> {
    if (this.#uses !== 'several') this.#countUse();
    const shown = shortenVariables(variableValues);
    const errors = shown === variableValues ? undefined : this.#check(shown);
    if (errors !== undefined) return { errors };
    return (
      this.#compiled?.(contextValue, variableValues) ??
      execute({ ...this.#args, variableValues, contextValue })
    );
  }

  /** The errors of variables; undefined when there are none. */
  #check(variableValues: Readonly<Record<string, unknown>>): readonly GraphQLError[] | undefined {
    const { schema, hideSuggestions, options } = this.#args;
    const { variableDefinitions = [] } = this.definition;
    return getVariableValues(schema, variableDefinitions, variableValues, {
      maxErrors: options?.maxCoercionErrors ?? 0,
      hideSuggestions: hideSuggestions ?? false,
    }).errors;
  }

  /** Compiling costs more than executing once: an operation earns it by being used again. */
  #countUse(): void {
    const { schema, document, operationName } = this.#args;
    if (this.#uses === 'one') {
      this.#compiled = compileOperation(schema, document, operationName ?? undefined);
    }
    this.#uses = this.#uses === 'none' ? 'one' : 'several';
  }
}

function fieldsOf(document: DocumentNode): readonly FieldNode[] {
  const fields: FieldNode[] = [];
  visit(document, { Field: (field) => void fields.push(field) });
  return fields;
}
