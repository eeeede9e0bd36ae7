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

/** The cost of an operation or a selection set; a fragment counts once per spread. */
export interface Cost {
  /** Levels of fields, without those below an introspection field. */
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Deferred fragments of all levels. */
  readonly deferred: number;
  /** Fields of the selection set itself, without those below them. */
  readonly rootFields: number;
  /** Fields of all levels. */
  readonly fields: number;
}

/**
 * Returns the cost of each operation of a parsed document that is not validated yet. Takes time
 * proportional to the document, even with fragments that form a cycle.
 */
export function operationCosts({ definitions }: DocumentNode): readonly Cost[] {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition.selectionSet);
    }
  }
  const known = new Map<SelectionSetNode, Cost>();

  function costOf(selectionSet: SelectionSetNode | undefined): Cost {
    if (selectionSet === undefined) return nothing;
    const cost = known.get(selectionSet);
    if (cost !== undefined) return cost;
    // A temporary value ends the recursion of a fragment cycle, which validation rejects later.
    known.set(selectionSet, nothing);
    const total = { ...nothing };
    for (const selection of selectionSet.selections) {
      const { directives = [] } = selection;
      const isField = selection.kind === Kind.FIELD;
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const below = costOf(isSpread ? fragments.get(selection.name.value) : selection.selectionSet);
      const isIntrospection = isField && selection.name.value.startsWith('__');
      const depth = (isField ? 1 : 0) + (isIntrospection ? 0 : below.depth);
      total.depth = Math.max(total.depth, depth);
      total.aliases += below.aliases + (isField && selection.alias ? 1 : 0);
      total.directives += below.directives + directives.length;
      total.deferred += below.deferred + directives.filter(isDefer).length;
      total.rootFields += isField ? 1 : below.rootFields;
      total.fields += below.fields + (isField ? 1 : 0);
    }
    known.set(selectionSet, total);
    return total;
  }

  return definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
    const cost = costOf(definition.selectionSet);
    return { ...cost, directives: cost.directives + (definition.directives?.length ?? 0) };
  });
}

const nothing = { depth: 0, aliases: 0, directives: 0, deferred: 0, rootFields: 0, fields: 0 };

function isDefer({ name }: DirectiveNode): boolean {
  return name.value === GraphQLDeferDirective.name;
}
