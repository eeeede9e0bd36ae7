import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isNonNullType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { type Completion, completeType, nullFor } from './completion.ts';
import { planArguments, type VariableValues } from './inputs.ts';
import { NotCompilable } from './not-compilable.ts';
import { type IsIncluded, type SelectedField, SelectionReader } from './selection.ts';

/** The values of the variables by which selections are skipped or included. */
export type Conditions = Readonly<Record<string, unknown>>;

/** Executes an operation with variables that were read. */
export type Execute = (context: object, variables: VariableValues) => Promise<ExecutionResult>;

/** Resolves and completes one field of the operation; null and an error in `completion` on failure. */
type ExecuteField = (
  context: object,
  variables: VariableValues,
  errors: Completion['errors'],
) => unknown;

interface RootField {
  readonly key: string;
  readonly execute: ExecuteField;
}

/**
 * Plans an operation under conditions of these values: all that does not depend on its other
 * variables is done here, once. @throws NotCompilable
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  conditions: Conditions,
): Execute {
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const root = (isMutation ? schema.getMutationType() : schema.getQueryType()) as GraphQLObjectType;
  const selections = new SelectionReader(document, includedUnder(conditions));
  const fields = selections.fieldsOf(root, [operation.selectionSet]).map((field) => ({
    key: field.key,
    execute: planField(field, root, selections),
  }));
  const execute = isMutation ? oneAfterTheOther(fields) : together(fields);
  return (context, variables) => {
    const errors: Completion['errors'] = [];
    return execute(context, variables, errors).then(
      (data) => (errors.length === 0 ? { data } : { errors, data }),
      // A field that must not be null is: it takes the whole response with it.
      (error: Completion['errors'][number]) => ({ errors: [...errors, error], data: null }),
    );
  };
}

type ExecuteFields = (...parameters: Parameters<ExecuteField>) => Promise<Record<string, unknown>>;

function together(fields: readonly RootField[]): ExecuteFields {
  const [only] = fields;
  if (only !== undefined && fields.length === 1) {
    return async (...parameters) => ({ [only.key]: await only.execute(...parameters) });
  }
  return async (...parameters) => {
    const values = await Promise.all(fields.map(({ execute }) => execute(...parameters)));
    return Object.fromEntries(fields.map(({ key }, index) => [key, values[index]]));
  };
}

function oneAfterTheOther(fields: readonly RootField[]): ExecuteFields {
  return async (...parameters) => {
    const data: [string, unknown][] = [];
    for (const { key, execute } of fields) data.push([key, await execute(...parameters)]);
    return Object.fromEntries(data);
  };
}

function planField(
  field: SelectedField,
  root: GraphQLObjectType,
  selections: SelectionReader,
): ExecuteField {
  const { key, nodes, definition } = field;
  if (nodes[0].name.value === '__typename') return () => root.name;
  // Introspection is the reference executor's, and so are resolvers that ask for more than it.
  const resolve = definition?.resolve as Resolve | undefined;
  if (definition === undefined || resolve === undefined || resolve.length > 3) {
    throw new NotCompilable();
  }
  const { type } = definition;
  const complete = completeType(type, field, root, selections);
  const isNullable = !isNonNullType(type);
  const readArguments = planArguments(definition, nodes[0]);
  return async (context, variables, errors) => {
    const completion: Completion = { errors, path: [key] };
    try {
      const value = await resolve(undefined, readArguments(variables), context);
      return complete(value, completion);
    } catch (error) {
      completion.path.length = 1;
      return nullFor(error, nodes, completion, isNullable);
    }
  };
}

type Resolve = (root: unknown, args: object, context: object) => unknown;

function includedUnder(conditions: Conditions): IsIncluded {
  const variables = { coerced: conditions } as VariableValues;
  return (selection) =>
    getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
