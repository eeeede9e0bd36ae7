import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** Whether a selection is in, by its `@skip` and `@include`. */
export type IsIncluded = (selection: Pick<FieldNode, 'directives'>) => boolean;

/** A field of a response: the selections of a document that ask for it under one key. */
export interface SelectedField {
  /** Its name in the response: an alias, or the field's own. */
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  /** Its definition; undefined for `__typename`. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
}

/** Reads selections as the reference algorithm does (GraphQL specification, section 6.3.2). */
export class SelectionReader {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #isIncluded: IsIncluded;

  constructor(document: DocumentNode, isIncluded: IsIncluded) {
    this.#fragments = new Map(
      document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
    this.#isIncluded = isIncluded;
  }

  /** The fields that these selection sets ask for of an object, in the order of the response. */
  fieldsOf(
    type: GraphQLObjectType,
    selectionSets: readonly SelectionSetNode[],
  ): readonly SelectedField[] {
    const nodes = new Map<string, [FieldNode, ...FieldNode[]]>();
    const visited = new Set<string>();
    for (const selectionSet of selectionSets) this.#collect(type, selectionSet, nodes, visited);
    return [...nodes].map(([key, fieldNodes]) => ({
      key,
      nodes: fieldNodes,
      definition: type.getFields()[fieldNodes[0].name.value],
    }));
  }

  #collect(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    nodes: Map<string, [FieldNode, ...FieldNode[]]>,
    visited: Set<string>,
  ): void {
    for (const selection of selections) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const same = nodes.get(key);
        if (same) same.push(selection);
        else nodes.set(key, [selection]);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? this.#fragments.get(selection.name.value) : selection;
      if (fragment === undefined) continue;
      if (isSpread && visited.has(selection.name.value)) continue;
      if (isSpread) visited.add(selection.name.value);
      const condition = fragment.typeCondition?.name.value;
      // No type of the schema is abstract, so that a condition names the type itself or none of it.
      if (condition !== undefined && condition !== type.name) continue;
      this.#collect(type, fragment.selectionSet, nodes, visited);
    }
  }
}
