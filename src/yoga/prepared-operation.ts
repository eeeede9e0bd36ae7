import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type ExperimentalIncrementalExecutionResults,
  experimentalExecuteIncrementally,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type LegacyExperimentalIncrementalExecutionResults,
  legacyExecuteIncrementally,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import type { PromiseOrValue } from 'graphql-yoga';
import { type CompiledOperation, compileOperation } from '../execution/compile.ts';
import { conditionsOf } from '../execution/field-collector.ts';
import { type ExaminedOperation, examineOperation } from '../graphql/examine-operation.ts';
import { invalidVariables } from '../graphql/invalid-input.ts';
import type { OperationLabel } from '../request/report.ts';
import type { Delivery } from './delivery.ts';
import { type RootFields, rootFieldsOf } from './root-fields.ts';

type VariableValues = Readonly<Record<string, unknown>>;

/** The parts of a result with deferred fragments, in one of graphql-js's formats. */
export type Parts = AsyncGenerator<object, void, void>;

/** What an execution needs of the context. */
interface ExecutionContext {
  /** How deferred fragments are delivered; undefined for a whole result. */
  readonly delivery: Delivery | undefined;
}

/** Returns how an operation is reported. */
function labelOf({ operation: type, name }: OperationDefinitionNode): OperationLabel {
  const shown = name?.value.slice(0, 64);
  return { type, name: shown, title: shown === undefined ? type : `${type} ${shown}` };
}

/** An operation of a prepared document. */
export class PreparedOperation {
  readonly definition: OperationDefinitionNode;
  readonly label: OperationLabel;
  readonly deprecations: ExaminedOperation['deprecations'];
  readonly takesText: ExaminedOperation['takesText'];
  readonly rootFields: RootFields;
  /** Whether it has introspection fields, which take milliseconds. */
  readonly isIntrospection: boolean;
  /** Whether it may be executed only for an accepted key. */
  readonly needsKey: boolean;
  /** Whether it has a `@defer`, for which graphql-js may take milliseconds. */
  readonly isDeferred: boolean;
  /** The arguments of graphql-js, for the document without its `@defer`. */
  readonly #whole: ExecutionArgs;
  /** The document with its `@defer`. */
  readonly #document: DocumentNode;
  /** The variables of conditions; graphql-js refuses a null only when it reaches the directive. */
  readonly #conditions: readonly VariableDefinitionNode[];
  readonly #compiled: CompiledOperation | undefined;

  /** @param document of only this operation and its fragments */
  constructor(
    definition: OperationDefinitionNode,
    document: DocumentNode,
    schema: GraphQLSchema,
    introspection: boolean | 'keys',
  ) {
    this.definition = definition;
    this.label = labelOf(definition);
    this.rootFields = rootFieldsOf(definition, document);
    const examined = examineOperation(schema, document);
    const { whole } = examined;
    const conditions = conditionsOf(document);
    this.deprecations = examined.deprecations;
    this.takesText = examined.takesText;
    this.#conditions = (definition.variableDefinitions ?? []).filter(({ variable }) =>
      conditions.includes(variable.name.value),
    );
    this.isIntrospection = examined.isIntrospection;
    this.needsKey = examined.isIntrospection && introspection === 'keys';
    this.isDeferred = whole !== document;
    this.#whole = {
      schema,
      document: whole,
      hideSuggestions: introspection !== true,
      options: { maxCoercionErrors: 1 },
    };
    this.#compiled = compileOperation(schema, whole);
    this.#document = document;
  }

  /**
   * Executes the operation, in the place of Yoga's executor, which rounds large integers in variable
   * defaults. If the context has a delivery, graphql-js starts all fields immediately and returns
   * deferred fragments as later parts, or a whole result if the variables turn every `@defer` off.
   * Otherwise the result is whole: from compiled code, or from graphql-js if there is none.
   */
  readonly execute = ({ contextValue, variableValues }: ExecutionArgs) => {
    const values = variableValues ?? {};
    const context = contextValue as ExecutionContext;
    const { delivery } = context;
    const refused = this.#refuseNull(values);
    const isCompiled = refused === undefined && delivery === undefined;
    const compiled = isCompiled ? this.#compiled?.(context, values) : undefined;
    if (compiled !== undefined) return compiled;
    const args = { ...this.#whole, contextValue, variableValues: values };
    const result = refused ?? this.#interpret(args, delivery);
    if (!('errors' in result) || 'data' in result) return result;
    // Without data, a variable is invalid.
    const error = invalidVariables(args, values);
    return error ? { errors: [error] } : result;
  };

  /** Refuses a null condition before anything is executed, so that no write is done before it fails. */
  #refuseNull(variableValues: VariableValues): ExecutionResult | undefined {
    for (const { variable, defaultValue } of this.#conditions) {
      const value = variableValues[variable.name.value];
      if (value !== null && (value !== undefined || defaultValue?.kind !== Kind.NULL)) continue;
      const message = `Expected true or false for $${variable.name.value}, received null.`;
      return { errors: [new GraphQLError(message, { nodes: variable })] };
    }
    return undefined;
  }

  /** Executes with graphql-js, whose `execute` rejects every operation if the schema defines `@defer`. */
  #interpret(
    args: ExecutionArgs,
    delivery: Delivery | undefined,
  ): PromiseOrValue<ExecutionResult | Parts> {
    if (delivery === undefined) {
      return experimentalExecuteIncrementally(args) as PromiseOrValue<ExecutionResult>;
    }
    const isCurrent = delivery.format === 'incrementalSpec=v0.2';
    const execute = isCurrent ? experimentalExecuteIncrementally : legacyExecuteIncrementally;
    const result = execute({ ...args, document: this.#document, enableEarlyExecution: true });
    return result instanceof Promise ? result.then(toParts) : toParts(result);
  }
}

/** Returns the parts of a result as Envelop expects them, the first one included. */
function toParts(
  result:
    | ExecutionResult
    | ExperimentalIncrementalExecutionResults
    | LegacyExperimentalIncrementalExecutionResults,
): ExecutionResult | Parts {
  return 'initialResult' in result ? partsOf(result) : result;
}

async function* partsOf({
  initialResult,
  subsequentResults,
}: ExperimentalIncrementalExecutionResults | LegacyExperimentalIncrementalExecutionResults): Parts {
  yield initialResult;
  yield* subsequentResults;
}
