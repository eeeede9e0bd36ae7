import { type DocumentNode, GraphQLError, Kind, parse } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { operationCost } from '../../graphql/operation-cost.ts';

/** What one operation may cost at most. */
export interface OperationLimits {
  /** Lexical tokens of the whole document. */
  readonly maxTokens: number;
  /** Levels of fields; introspection is counted apart, by graphql-js. */
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
  /** Fields at the root of an operation, each of which is a call to the backend. */
  readonly maxRootFields: number;
  /** Fields of all levels, every fragment counted as often as it is spread. */
  readonly maxFields: number;
}

/**
 * Refuses an operation that costs too much, with status 400, before it is validated: validation
 * itself is what a hostile document aims at.
 */
export function useOperationLimits(limits: OperationLimits): Plugin {
  const checked = new WeakSet<DocumentNode>();
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, maxTokens: limits.maxTokens }));
      return ({ result }) => {
        if (isTooLong(result)) {
          throw tooLarge('tokens', limits.maxTokens, `more than ${limits.maxTokens}`);
        }
        if (!isDocument(result) || checked.has(result)) return;
        refuseBeyond(limits, result);
        checked.add(result);
      };
    },
  };
}

function refuseBeyond(limits: OperationLimits, document: DocumentNode): void {
  const cost = operationCost(document);
  const checks = [
    ['levels of fields', limits.maxDepth, cost.depth],
    ['aliases', limits.maxAliases, cost.aliases],
    ['directives', limits.maxDirectives, cost.directives],
    ['root fields', limits.maxRootFields, cost.rootFields],
    ['fields', limits.maxFields, cost.fields],
  ] as const;
  for (const [what, maximum, actual] of checks) {
    if (actual > maximum) throw tooLarge(what, maximum, String(actual));
  }
}

/** graphql-js stops at the first token too many, and tells it from a syntax error by its words only. */
function isTooLong(result: unknown): boolean {
  return result instanceof GraphQLError && result.message.includes('Parsing aborted');
}

function isDocument(result: unknown): result is DocumentNode {
  return (result as DocumentNode | undefined)?.kind === Kind.DOCUMENT;
}

function tooLarge(what: string, maximum: number, actual: string): GraphQLError {
  return new GraphQLError(
    `The operation is too large: expected at most ${maximum} ${what}, received ${actual}.`,
    { extensions: { code: 'OPERATION_TOO_LARGE', http: { status: 400 } } },
  );
}
