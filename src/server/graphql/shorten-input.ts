import { type DocumentNode, Kind, TokenKind, visit } from 'graphql';

/** Longer text, in characters, is not quoted in full. */
const maxQuoted = 1000;

/** Deeper values are left as they are: no input type of the schema nests so deep. */
const maxDepth = 10;

/**
 * Shortens each long text in variables; returns the same object if there is none. Variables are
 * checked in this form, because graphql-js quotes the whole input in each error. The outcome is the
 * same: no type of the schema depends on how a text ends.
 */
export function shortenVariables(
  variables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return shortenMembers(variables, 0);
}

function shortenValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shortenText(value);
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value;
  if (!Array.isArray(value)) return shortenMembers(value as Record<string, unknown>, depth);
  const items = value.map((item) => shortenValue(item, depth + 1));
  return items.some((item, index) => item !== value[index]) ? items : value;
}

function shortenMembers<T extends Readonly<Record<string, unknown>>>(members: T, depth: number): T {
  const entries = Object.entries(members);
  const shortened = entries.map(([key, value]) => [
    shortenText(key),
    shortenValue(value, depth + 1),
  ]) as typeof entries;
  const isSame = shortened.every(
    ([key, value], index) => key === entries[index]?.[0] && value === entries[index][1],
  );
  return isSame ? members : (Object.fromEntries(shortened) as T);
}

function shortenText(text: string): string {
  return text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
}

/** Shortens each long string in a document; returns the same object if there is none. */
export function shortenDocument(document: DocumentNode): DocumentNode {
  let token = document.loc?.startToken ?? null;
  while (token !== null && !isLongString(token)) token = token.next;
  if (token === null) return document;
  return visit(document, {
    [Kind.STRING](node) {
      const value = shortenText(node.value);
      return value === node.value ? undefined : { ...node, value };
    },
  });
}

function isLongString({ kind, start, end }: { kind: string; start: number; end: number }): boolean {
  if (end - start <= maxQuoted) return false;
  return kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING;
}
