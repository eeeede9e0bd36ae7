import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  type getArgumentValues,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** Coerced variables, as `getVariableValues` of graphql-js returns them. */
export type VariableValues = NonNullable<Parameters<typeof getArgumentValues>[2]>;

/** A field of a response, with all selections that have its response key. */
export interface SelectedField {
  /** The response key: the alias, or the name of the field. */
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  /** The definition of the field; undefined for `__typename`. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
}

/** Returns the fields that nodes select on an object type, in response order. */
export type CollectFields = ReturnType<typeof createCollectFields>;

/**
 * Creates `CollectFields` (GraphQL specification, section 6.3.2) for a document and the variables
 * of its conditions. It throws for introspection, and for the response key `__proto__`, which would
 * set the prototype of the result.
 */
export function createCollectFields(document: DocumentNode, variables: VariableValues) {
  const isIncluded = (selection: SelectionNode) => {
    const ifOf = (directive: typeof GraphQLSkipDirective) =>
      getDirectiveValues(directive, selection, variables)?.['if'];
    return ifOf(GraphQLSkipDirective) !== true && ifOf(GraphQLIncludeDirective) !== false;
  };

  return (
    type: GraphQLObjectType,
    nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  ): readonly SelectedField[] => {
    const fields = expandFields(nodes, document, isIncluded);
    const byKey = Map.groupBy(fields, ({ alias, name }) => (alias ?? name).value);
    return Array.from(byKey, ([key, [node, ...others]]) => {
      const { value: name } = (node as FieldNode).name;
      const definition = type.getFields()[name];
      if (key === '__proto__' || (!definition && name !== '__typename')) {
        throw new TypeError('not compilable');
      }
      return { key, nodes: [node as FieldNode, ...others], definition };
    });
  };
}

/** Returns the fields that nodes select, also in fragments, each of which is visited once. */
export function expandFields(
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  { definitions }: DocumentNode,
  isIncluded: (selection: SelectionNode) => boolean,
): FieldNode[] {
  const visited = new Set<string>();
  function fieldsOf({ selectionSet }: (typeof nodes)[number]): FieldNode[] {
    return (selectionSet?.selections ?? []).filter(isIncluded).flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection);
      const name = selection.name.value;
      if (visited.has(name)) return [];
      visited.add(name);
      const fragment = definitions.find(
        (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name,
      );
      return fieldsOf(fragment as FragmentDefinitionNode);
    });
  }
  return nodes.flatMap(fieldsOf);
}

/** An operation with more conditions, each true or false, has more than sixteen variants of compiled code. */
export const maxConditions = 4;

/** Returns the names of the variables of `@skip`, `@include` and `@defer`, which all are conditions. */
export function conditionsOf(document: DocumentNode): readonly string[] {
  const conditions = new Set<string>();
  visit(document, {
    Directive({ arguments: args = [] }) {
      for (const { value } of args) {
        if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
      }
    },
  });
  return [...conditions];
}
