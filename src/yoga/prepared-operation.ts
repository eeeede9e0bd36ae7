import {
  type DirectiveNode,
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
  type SelectionNode,
  type VariableDefinitionNode,
} from 'graphql';
import type { PromiseOrValue } from 'graphql-yoga';
import { compileOperation } from '../execution/compile.ts';
import { conditionsOf, expandFields } from '../execution/field-collector.ts';
import { examineOperation } from '../graphql/examine-operation.ts';
import { type InputChecks, invalidVariables } from '../graphql/invalid-input.ts';
import type { OperationLabel } from '../request/report.ts';
import type { Delivery } from './delivery.ts';

/** The parts of a result with deferred fragments, in one of graphql-js's formats. */
type Parts = AsyncGenerator<object, void, void>;

/** Returns how an operation is reported. */
function labelOf(
  { operation: type, name }: OperationDefinitionNode,
  deprecations: OperationLabel['deprecations'],
): OperationLabel {
  const shown = name?.value.slice(0, 64);
  const title = shown === undefined ? type : `${type} ${shown}`;
  return { type, name: shown, title, deprecations };
}

/** An operation of a prepared document. */
export type PreparedOperation = ReturnType<typeof prepareOperation>;

/** Prepares an operation for any number of executions. @param document of only it and its fragments */
export function prepareOperation(
  definition: OperationDefinitionNode,
  document: DocumentNode,
  schema: GraphQLSchema,
  introspection: boolean | 'keys',
  checks: InputChecks,
) {
  const { whole, ...examined } = examineOperation(schema, document);
  const { deprecations } = examined;
  const conditions = conditionsOf(document);
  const ofConditions = (definition.variableDefinitions ?? []).filter(({ variable }) =>
    conditions.includes(variable.name.value),
  );
  const compiled = compileOperation(schema, whole);
  const hideSuggestions = introspection !== true;
  const isDeferred = whole !== document;
  const shared = { schema, document: whole, hideSuggestions, options: { maxCoercionErrors: 1 } };

  /**
   * Executes the operation, in the place of Yoga's executor, which rounds large integers in variable
   * defaults. If parts can be delivered, graphql-js starts all fields immediately and returns deferred
   * fragments as later parts, or a whole result if the variables turn every `@defer` off. Otherwise the
   * result is whole: from compiled code, or from graphql-js if there is none.
   */
  function execute({ contextValue, variableValues, rootValue }: ExecutionArgs, parts?: Delivery) {
    const values = variableValues ?? {};
    const delivery = isDeferred ? parts : undefined;
    const refused = ofConditions.length === 0 ? undefined : refuseNull(ofConditions, values);
    const isCompiled = refused === undefined && delivery === undefined;
    const executed = isCompiled ? compiled?.(contextValue as object, values) : undefined;
    if (executed !== undefined) return executed;
    const args: ExecutionArgs = { ...shared, contextValue, variableValues: values, rootValue };
    const result = refused ?? (delivery ? defer({ ...args, document }, delivery) : interpret(args));
    if (!('errors' in result) || 'data' in result) return result;
    // Without data, a variable is invalid.
    const error = invalidVariables(args, values, checks);
    return error ? { errors: [error] } : result;
  }

  const needsKey = examined.isIntrospection && introspection === 'keys';
  return {
    ...examined,
    definition,
    label: labelOf(definition, deprecations),
    /** Whether it may be executed only for an accepted key. */
    needsKey,
    /** How many calls it takes from the rate of its key: one per root field. */
    calls: countRootFields(definition, document) + Number(needsKey),
    /** Whether it has a `@defer`, for which graphql-js may take milliseconds. */
    isDeferred,
    execute,
  };
}

/**
 * Refuses a null condition before anything is executed, so that no write is done before it fails:
 * graphql-js refuses it only when it reaches the directive.
 */
function refuseNull(
  ofConditions: readonly VariableDefinitionNode[],
  values: Readonly<Record<string, unknown>>,
): ExecutionResult | undefined {
  for (const { variable, defaultValue } of ofConditions) {
    const value = values[variable.name.value];
    if (value !== null && (value !== undefined || defaultValue?.kind !== Kind.NULL)) continue;
    const message = `Expected true or false for $${variable.name.value}, received null.`;
    return { errors: [new GraphQLError(message, { nodes: variable })] };
  }
  return undefined;
}

/** Executes a whole operation: graphql-js's `execute` rejects each if the schema defines `@defer`. */
export function interpret(args: ExecutionArgs): PromiseOrValue<ExecutionResult> {
  return experimentalExecuteIncrementally(args) as PromiseOrValue<ExecutionResult>;
}

function defer(args: ExecutionArgs, { format }: Delivery): PromiseOrValue<ExecutionResult | Parts> {
  const isCurrent = format === 'incrementalSpec=v0.2';
  const execute = isCurrent ? experimentalExecuteIncrementally : legacyExecuteIncrementally;
  const result = execute({ ...args, enableEarlyExecution: true });
  return result instanceof Promise ? result.then(toParts) : toParts(result);
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

/**
 * Returns how many root fields of an operation make calls, with fragments expanded. Fields with the same
 * response key are one; introspection and what a literal condition turns off are none.
 */
export function countRootFields(operation: OperationDefinitionNode, document: DocumentNode) {
  const isIncluded = ({ directives }: SelectionNode) => !directives?.some(turnsOff);
  const keys = expandFields([operation], document, isIncluded)
    .filter(({ name }) => !name.value.startsWith('__'))
    .map(({ alias, name }) => (alias ?? name).value);
  return new Set(keys).size;
}

function turnsOff({ name, arguments: [condition] = [] }: DirectiveNode): boolean {
  const value = condition?.value.kind === Kind.BOOLEAN ? condition.value.value : undefined;
  return value === (name.value === 'skip') && /^(?:skip|include)$/.test(name.value);
}
