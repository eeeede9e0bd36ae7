import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLDeferDirective,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** The limits of one operation. */
export interface OperationLimits {
  /** Lexical tokens of the whole document. */
  readonly maxTokens: number;
  /** Levels of fields; graphql-js limits introspection separately. */
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
  /** Root fields, each of which is a call to the backend, and deferred fragments. */
  readonly maxRootFields: number;
  /** Fields of all levels; a fragment counts once per spread. */
  readonly maxFields: number;
}

/** The cost of an operation; a fragment counts once per spread. */
export interface OperationCost {
  /** Levels of fields, without those below an introspection field. */
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Fields at the root, and deferred fragments of all levels. */
  readonly rootFields: number;
  /** Fields of all levels. */
  readonly fields: number;
}

/**
 * The cost of a parsed document that is not validated yet: for each measure, the maximum over its
 * operations. Takes time proportional to the document, even with fragments that form a cycle.
 */
export function operationCost(document: DocumentNode): OperationCost {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition.selectionSet);
    }
  }
  const known = new Map<SelectionSetNode, Cost>();
  const maximum = { depth: 0, aliases: 0, directives: 0, rootFields: 0, fields: 0 };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const cost = costOf(definition.selectionSet, fragments, known);
    maximum.depth = Math.max(maximum.depth, cost.depth);
    maximum.aliases = Math.max(maximum.aliases, cost.aliases);
    maximum.directives = Math.max(
      maximum.directives,
      cost.directives + (definition.directives?.length ?? 0),
    );
    maximum.rootFields = Math.max(maximum.rootFields, cost.ownFields + cost.deferred);
    maximum.fields = Math.max(maximum.fields, cost.fields);
  }
  return maximum;
}

interface Cost {
  depth: number;
  aliases: number;
  directives: number;
  deferred: number;
  /** Fields of the selection set itself, without those below them. */
  ownFields: number;
  fields: number;
}

function costOf(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, SelectionSetNode>,
  known: Map<SelectionSetNode, Cost>,
): Cost {
  const total: Cost = { ...nothing };
  const add = (selectionSet: SelectionSetNode | undefined): Cost => {
    if (selectionSet === undefined) return nothing;
    let cost = known.get(selectionSet);
    if (cost === undefined) {
      // A temporary value ends the recursion of a fragment cycle, which validation rejects later.
      known.set(selectionSet, nothing);
      cost = costOf(selectionSet, fragments, known);
      known.set(selectionSet, cost);
    }
    total.aliases += cost.aliases;
    total.directives += cost.directives;
    total.deferred += cost.deferred;
    total.fields += cost.fields;
    return cost;
  };
  for (const selection of selections) {
    const { directives = [] } = selection;
    total.directives += directives.length;
    total.deferred += directives.filter(isDefer).length;
    if (selection.kind === Kind.FIELD) {
      const below = add(selection.selectionSet);
      const isIntrospection = selection.name.value.startsWith('__');
      total.ownFields += 1;
      total.fields += 1;
      total.aliases += selection.alias ? 1 : 0;
      total.depth = Math.max(total.depth, isIntrospection ? 1 : 1 + below.depth);
    } else {
      const spread = add(
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection.selectionSet
          : fragments.get(selection.name.value),
      );
      total.ownFields += spread.ownFields;
      total.depth = Math.max(total.depth, spread.depth);
    }
  }
  return total;
}

const nothing: Cost = {
  depth: 0,
  aliases: 0,
  directives: 0,
  deferred: 0,
  ownFields: 0,
  fields: 0,
};

function isDefer({ name }: DirectiveNode): boolean {
  return name.value === GraphQLDeferDirective.name;
}
