import {
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  Kind,
} from 'graphql';
import type { Execution } from './execution.ts';
import type { SelectedField } from './field-collector.ts';
import type { CompiledSource } from './resume-in-fallback.ts';

/** Plans the fourth argument of a root resolver, with the same contents as in graphql-js. */
export function planResolveInfo(
  { name: fieldName, type: returnType }: GraphQLField<unknown, unknown>,
  { key, nodes: fieldNodes }: SelectedField,
  { schema, document, operation, root: parentType }: CompiledSource,
): (execution: Execution) => GraphQLResolveInfo {
  const path = { prev: undefined, key, typename: parentType.name };
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return ({ variables, getAbortSignal }) => ({
    fieldName,
    fieldNodes,
    returnType,
    parentType,
    path,
    schema,
    fragments,
    rootValue: undefined,
    operation,
    variableValues: variables,
    getAbortSignal,
    getAsyncHelpers,
  });
}

type AsyncHelpers = ReturnType<GraphQLResolveInfo['getAsyncHelpers']>;

/** Helpers of graphql-js for the promises of resolvers. Its hooks are not used here. */
const asyncHelpers: AsyncHelpers = {
  promiseAll: (values) => Promise.all(values),
  track: (values) => {
    Promise.allSettled(values);
  },
};

const getAsyncHelpers = (): AsyncHelpers => asyncHelpers;
