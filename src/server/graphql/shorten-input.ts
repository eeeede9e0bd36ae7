import { type DocumentNode, Kind, visit } from 'graphql';

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
  return shortenValue(variables, 0) as typeof variables;
}

function shortenValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shortenText(value);
  if (!hasLongText(value, depth)) return value;
  if (Array.isArray(value)) return value.map((item) => shortenValue(item, depth + 1));
  const members = Object.entries(value as object);
  return Object.fromEntries(
    members.map(([name, member]) => [shortenText(name), shortenValue(member, depth + 1)]),
  );
}

function hasLongText(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.length > maxQuoted;
  if (typeof value !== 'object' || value === null || depth > maxDepth) return false;
  return Object.entries(value).some(
    ([name, member]) => name.length > maxQuoted || hasLongText(member, depth + 1),
  );
}

function shortenText(text: string): string {
  return text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
}

/** Shortens each long string in a document; returns the same object if there is none. */
export function shortenDocument(document: DocumentNode): DocumentNode {
  return visit(document, {
    [Kind.STRING](node) {
      const value = shortenText(node.value);
      return value === node.value ? undefined : { ...node, value };
    },
  });
}
