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
  type SelectionSetNode,
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

/** Collects the fields of selection sets (GraphQL specification, section 6.3.2). */
export class FieldCollector {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: VariableValues;

  /** @param variables those that `@skip` and `@include` use */
  constructor(document: DocumentNode, variables: VariableValues) {
    this.#fragments = new Map(
      document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
    this.#variables = variables;
  }

  /**
   * Returns the fields that these nodes select on an object type, in response order.
   * @throws for introspection, and for the response key `__proto__`, which would
   *   set the prototype of the result.
   */
  collect(
    type: GraphQLObjectType,
    nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  ): readonly SelectedField[] {
    const collected = new Map<string, [FieldNode, ...FieldNode[]]>();
    const visited = new Set<string>();
    for (const { selectionSet } of nodes) this.#addFields(selectionSet, collected, visited);
    return [...collected].map(([key, fieldNodes]) => {
      const name = fieldNodes[0].name.value;
      const definition = type.getFields()[name];
      if (key === '__proto__' || (!definition && name !== '__typename')) {
        throw new TypeError('not compilable');
      }
      return { key, nodes: fieldNodes, definition };
    });
  }

  #addFields(
    selectionSet: SelectionSetNode | undefined,
    collected: Map<string, [FieldNode, ...FieldNode[]]>,
    visited: Set<string>,
  ): void {
    for (const selection of selectionSet?.selections ?? []) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const same = collected.get(key);
        if (same) same.push(selection);
        else collected.set(key, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.#addFields(selection.selectionSet, collected, visited);
      } else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = this.#fragments.get(selection.name.value);
        this.#addFields(fragment?.selectionSet, collected, visited);
      }
    }
  }

  #isIncluded(selection: Pick<FieldNode, 'directives'>): boolean {
    const ifOf = (directive: typeof GraphQLSkipDirective) =>
      getDirectiveValues(directive, selection, this.#variables)?.['if'];
    return ifOf(GraphQLSkipDirective) !== true && ifOf(GraphQLIncludeDirective) !== false;
  }
}
