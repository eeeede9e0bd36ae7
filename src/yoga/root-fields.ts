import {
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';
import { expandFields } from '../execution/field-collector.ts';

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
