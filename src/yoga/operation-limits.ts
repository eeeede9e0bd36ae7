import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLDeferDirective,
  GraphQLError,
  Kind,
  parse,
  type SelectionSetNode,
  TokenKind,
} from 'graphql';
import { HttpError } from '../http/error.ts';

/** What is limited in an operation, as messages describe it; a fragment counts once per spread. */
const measures = {
  // Without those below an introspection field, which graphql-js limits.
  maxDepth: 'levels of fields',
  maxAliases: 'aliases',
  maxDirectives: 'directives',
  // Each root field is a call to the backend.
  maxRootFields: 'root fields and deferred fragments',
  maxFields: 'fields',
} as const;

type Measure = keyof typeof measures;

/** The limits of one operation, and of the lexical tokens of the whole document. */
export type OperationLimits = Readonly<Record<Measure | 'maxTokens', number>>;

/** The cost of an operation or a selection set; root fields are without deferred fragments. */
interface Cost extends Readonly<Record<Measure | 'deferred' | 'equal', number>> {
  /** The most fields with the same response path at or below each response key; `equal` is the highest. */
  readonly equalAt: ReadonlyMap<string, number>;
}

/**
 * Creates the function that parses documents.
 * @throws GraphQLError for a syntax error; HttpError with status 400 for a document beyond the limits,
 *   before its validation is expensive.
 */
export function createBoundedParse(limits: OperationLimits): typeof parse {
  const { maxTokens } = limits;
  return (source, options) => {
    try {
      const document = parse(source, { ...options, maxTokens });
      checkTokens(document);
      for (const cost of operationCosts(document)) {
        for (const measure of Object.keys(measures) as Measure[]) {
          checkSize(measures[measure], limits[measure], cost[measure]);
        }
        checkSize('fields with the same response path', maxEqual, cost.equal);
      }
      return document;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const { message, source: at, positions } = error;
      // Only the message differs from that of a syntax error.
      if (message.includes('Parsing aborted')) {
        throw tooLarge('tokens', maxTokens, `more than ${maxTokens}`);
      }
      const extensions = { code: 'GRAPHQL_PARSE_FAILED' };
      throw new GraphQLError(message, { source: at, positions, extensions });
    }
  };
}

/** The most fields with the same response path: validation compares each of them with each other one. */
const maxEqual = 30;

/** The most characters of a name and of a number. */
const tokenLimits: Readonly<Partial<Record<TokenKind, readonly [what: string, maximum: number]>>> =
  {
    [TokenKind.NAME]: ['characters of a name', 256],
    [TokenKind.INT]: ['characters of a number', 1000],
    [TokenKind.FLOAT]: ['characters of a number', 1000],
  };

/** The most lines of a document: graphql-js searches all line breaks for the location of each error. */
const maxLines = 5000;

/**
 * Refuses many lines, and long names and numbers: errors quote them, suggestions compare names, and
 * reading a number takes time quadratic in its length.
 */
function checkTokens({ loc }: DocumentNode): void {
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    const limit = tokenLimits[token.kind];
    if (limit) checkSize(...limit, token.end - token.start);
  }
  checkSize('lines', maxLines, loc?.endToken.line ?? 0);
}

/**
 * Yields the cost of each operation of a parsed document that is not validated yet, and of each fragment
 * that no operation uses, which is validated, too. Takes time proportional to the document and to the
 * response keys of each spread, even with fragments that form a cycle.
 */
export function* operationCosts({ definitions }: DocumentNode): Generator<Cost> {
  const known = new Map<SelectionSetNode, Cost>();

  function costOf(selectionSet: SelectionSetNode | undefined): Cost {
    if (selectionSet === undefined) return nothing;
    const cost = known.get(selectionSet);
    if (cost !== undefined) return cost;
    // A temporary value ends the recursion of a fragment cycle, which validation rejects later.
    known.set(selectionSet, nothing);
    const equalAt = new Map<string, number>();
    const total: { -readonly [Name in keyof Cost]: Cost[Name] } = { ...nothing, equalAt };
    for (const selection of selectionSet.selections) {
      const { directives = [] } = selection;
      const field = selection.kind === Kind.FIELD ? selection : undefined;
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const below = costOf(isSpread ? fragments.get(selection.name.value) : selection.selectionSet);
      const depth = field?.name.value.startsWith('__') ? 0 : below.maxDepth;
      total.maxDepth = Math.max(total.maxDepth, depth + (field ? 1 : 0));
      total.maxAliases += below.maxAliases + (field?.alias ? 1 : 0);
      total.maxDirectives += below.maxDirectives + directives.length;
      total.maxRootFields += field ? 1 : below.maxRootFields;
      total.maxFields += below.maxFields + (field ? 1 : 0);
      total.deferred += below.deferred + directives.filter(isDefer).length;
      const key = (field?.alias ?? field?.name)?.value;
      const added = key === undefined ? below.equalAt : ([[key, below.equal || 1]] as const);
      for (const [name, count] of added) {
        const sum = (equalAt.get(name) ?? 0) + count;
        equalAt.set(name, sum);
        total.equal = Math.max(total.equal, sum);
      }
    }
    known.set(selectionSet, total);
    return total;
  }

  const fragments = new Map<string, SelectionSetNode>();
  for (const one of definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one.selectionSet);
  }
  for (const one of definitions) {
    if (one.kind !== Kind.OPERATION_DEFINITION) continue;
    const cost = costOf(one.selectionSet);
    const maxDirectives = cost.maxDirectives + (one.directives?.length ?? 0);
    yield { ...cost, maxDirectives, maxRootFields: cost.maxRootFields + cost.deferred };
  }
  for (const one of definitions) {
    if (one.kind !== Kind.FRAGMENT_DEFINITION || known.has(one.selectionSet)) continue;
    const cost = costOf(one.selectionSet);
    yield { ...cost, maxRootFields: cost.deferred };
  }
}

const nothing: Cost = {
  maxDepth: 0,
  maxAliases: 0,
  maxDirectives: 0,
  maxRootFields: 0,
  maxFields: 0,
  deferred: 0,
  equal: 0,
  equalAt: new Map(),
};

const isDefer = ({ name }: DirectiveNode) => name.value === GraphQLDeferDirective.name;

function checkSize(what: string, maximum: number, actual: number): void {
  if (actual > maximum) throw tooLarge(what, maximum, String(actual));
}

function tooLarge(what: string, maximum: number, actual: string): HttpError {
  return new HttpError(
    400,
    'OPERATION_TOO_LARGE',
    `The operation is too large: expected at most ${maximum} ${what}, received ${actual}.`,
  );
}
