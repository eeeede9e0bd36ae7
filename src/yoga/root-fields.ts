import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** The root fields of an operation that make calls, with fragments expanded. */
export interface RootFields {
  /** How many there are; fields with the same response key are one. */
  readonly count: number;
  /** Whether two of them may make the same call, which then is made once. */
  readonly mayBeEqual: boolean;
}

/** Returns the root fields of an operation, without introspection and what a literal condition turns off. */
export function rootFieldsOf(
  { selectionSet }: OperationDefinitionNode,
  document: DocumentNode,
): RootFields {
  const fields = [...addFields(selectionSet, document).values()];
  const mayBeEqual = fields.some((field, index) =>
    fields.slice(index + 1).some((other) => !isOther(field, other)),
  );
  return { count: fields.length, mayBeEqual };
}

/** Adds the fields of a selection set on a root type by their response keys. */
function addFields(
  { selections }: SelectionSetNode,
  document: DocumentNode,
  fields = new Map<string, FieldNode>(),
): ReadonlyMap<string, FieldNode> {
  for (const selection of selections) {
    if (selection.directives?.some(turnsOff)) continue;
    if (selection.kind === Kind.FIELD) {
      const { name, alias = name } = selection;
      if (!name.value.startsWith('__')) fields.set(alias.value, selection);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      addFields(selection.selectionSet, document, fields);
    } else {
      const fragment = document.definitions.find(
        (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
      ) as FragmentDefinitionNode;
      addFields(fragment.selectionSet, document, fields);
    }
  }
  return fields;
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
