import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type ValueNode,
} from 'graphql';
import { expandFields } from '../execution/field-collector.ts';

/**
 * Returns how many root fields of an operation make calls, with fragments expanded, and whether two of them
 * may make the same call, which then is made once. Fields with the same response key are one; introspection
 * and what a literal condition turns off are none.
 */
export function rootFieldsOf(operation: OperationDefinitionNode, document: DocumentNode) {
  const isIncluded = ({ directives }: SelectionNode) => !directives?.some(turnsOff);
  const all = expandFields([operation], document, isIncluded)
    .filter(({ name }) => !name.value.startsWith('__'))
    .map((field) => [(field.alias ?? field.name).value, field] as const);
  const fields = [...new Map(all).values()];
  const mayBeEqual = fields.some((field, index) =>
    fields.slice(index + 1).some((other) => !isOther(field, other)),
  );
  return { count: fields.length, mayBeEqual };
}

function turnsOff({ name, arguments: [condition] = [] }: DirectiveNode): boolean {
  const value = condition?.value.kind === Kind.BOOLEAN ? condition.value.value : undefined;
  return value === (name.value === 'skip') && /^(?:skip|include)$/.test(name.value);
}

/** Whether two fields make different calls whatever the variables: of an argument, they have different literals. */
function isOther(a: FieldNode, b: FieldNode): boolean {
  if (a.name.value !== b.name.value) return true;
  return (a.arguments ?? []).some(({ name, value }) => {
    const same = b.arguments?.find((argument) => argument.name.value === name.value)?.value;
    return same !== undefined && isOtherLiteral(value, same);
  });
}

/** A string may have the value of a number. */
function isOtherLiteral(a: ValueNode, b: ValueNode): boolean {
  const isScalar = a.kind === Kind.INT || a.kind === Kind.STRING || a.kind === Kind.ENUM;
  return isScalar && a.kind === b.kind && a.value !== b.value;
}
