import { type DocumentNode, GraphQLError, parse, TokenKind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import {
  type Cost,
  type OperationLimits,
  operationCosts,
} from '../../../graphql/operation-cost.ts';
import { HttpError } from '../../../http/error.ts';

/**
 * Refuses documents that exceed the limits with status 400, before their validation is expensive.
 */
export function useOperationLimits(limits: OperationLimits): Pick<Plugin, 'onParse'> {
  const { maxTokens } = limits;
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => {
        try {
          const document = parse(source, { ...options, maxTokens });
          refuseLongTokens(document);
          for (const cost of operationCosts(document)) refuseBeyond(limits, cost);
          return document;
        } catch (error) {
          // Only the message differs from that of a syntax error.
          const isTooLong =
            error instanceof GraphQLError && error.message.includes('Parsing aborted');
          throw isTooLong ? tooLarge('tokens', maxTokens, `more than ${maxTokens}`) : error;
        }
      });
    },
  };
}

/** The most characters of a name and of a number. */
const tokenLimits: Readonly<Partial<Record<TokenKind, readonly [number, string]>>> = {
  [TokenKind.NAME]: [256, 'characters of a name'],
  [TokenKind.INT]: [1000, 'characters of a number'],
  [TokenKind.FLOAT]: [1000, 'characters of a number'],
};

/**
 * Refuses long names and numbers: errors quote them, suggestions compare names, and reading a
 * number takes time quadratic in its length.
 */
function refuseLongTokens({ loc }: DocumentNode): void {
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    const [maximum = Number.POSITIVE_INFINITY, what = ''] = tokenLimits[token.kind] ?? [];
    const length = token.end - token.start;
    if (length > maximum) throw tooLarge(what, maximum, String(length));
  }
}

function refuseBeyond(limits: OperationLimits, cost: Cost): void {
  const checks = [
    ['levels of fields', limits.maxDepth, cost.depth],
    ['aliases', limits.maxAliases, cost.aliases],
    ['directives', limits.maxDirectives, cost.directives],
    ['root fields and deferred fragments', limits.maxRootFields, cost.rootFields + cost.deferred],
    ['fields', limits.maxFields, cost.fields],
  ] as const;
  for (const [what, maximum, actual] of checks) {
    if (actual > maximum) throw tooLarge(what, maximum, String(actual));
  }
}

function tooLarge(what: string, maximum: number, actual: string): HttpError {
  return new HttpError(
    400,
    'OPERATION_TOO_LARGE',
    `The operation is too large: expected at most ${maximum} ${what}, received ${actual}.`,
  );
}
