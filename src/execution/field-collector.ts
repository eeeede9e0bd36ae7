import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** An operation cannot be compiled, so the fallback executor has to execute it. */
export class NotCompilableError extends Error {}

/** Whether a selection is included, according to its `@skip` and `@include`. */
export type IsIncluded = (selection: Pick<FieldNode, 'directives'>) => boolean;

/** A field of a response, with all selections that have its response key. */
export interface SelectedField {
  /** The response key: the alias, or the name of the field. */
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  /** The definition of the field; undefined for `__typename`. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
}

/** Collects the fields of selection sets (GraphQL specification, section 6.3.2). */
export class FieldCollector {
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

  /**
   * Returns the fields that the selection sets select on an object type, in response order.
   * @throws NotCompilableError for introspection.
   */
  collect(
    type: GraphQLObjectType,
    selectionSets: readonly SelectionSetNode[],
  ): readonly SelectedField[] {
    const nodes = new Map<string, [FieldNode, ...FieldNode[]]>();
    const visited = new Set<string>();
    for (const selectionSet of selectionSets) this.#addFields(type, selectionSet, nodes, visited);
    return [...nodes].map(([key, fieldNodes]) => ({
      key,
      nodes: fieldNodes,
      definition: this.#definitionOf(type, fieldNodes[0].name.value),
    }));
  }

  #definitionOf(type: GraphQLObjectType, name: string): SelectedField['definition'] {
    const definition = type.getFields()[name];
    if (definition === undefined && name !== '__typename') throw new NotCompilableError();
    return definition;
  }

  #addFields(
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
      this.#addFields(type, fragment.selectionSet, nodes, visited);
    }
  }
}
