import { parseAccept as parse } from 'hono/utils/accept';

/** A media range of an `Accept` header. */
export type MediaRange = ReturnType<typeof parseAccept>[number];

const json = 'application/json';
const graphqlResponse = 'application/graphql-response+json';

/**
 * Reads an `Accept` header (RFC 9110, section 12.5.1): the ranges in lower case, the highest weight
 * first, the one that selects JSON, and the type of a GraphQL response in JSON with its weight;
 * undefined and 0 if JSON is not accepted.
 */
export function readAccept(accept: string) {
  const ranges = parseAccept(accept);
  const find = (range: string) => ranges.find(({ type }) => type === range);
  const wildcard = find('application/*') ?? find('*/*');
  const ofJson = find(json) ?? wildcard;
  const ofResponse = find(graphqlResponse) ?? wildcard;
  // The one with the higher weight, or else the first in the header.
  const jsonRange = ranges.find((range) => range === ofJson || range === ofResponse);
  const weight = jsonRange?.q ?? 0;
  const jsonType = weight > 0 ? (jsonRange === ofJson ? json : graphqlResponse) : undefined;
  return { jsonType, jsonRange, weight, ranges: ranges.filter(({ q }) => q > 0) };
}

/** The most characters of a header that are read: parsing 15,000 takes milliseconds. */
const maxLength = 1000;

/** Parses `Accept` or `Accept-Encoding` to its types in lower case, the highest weight first. */
export function parseAccept(header: string) {
  return parse(header.slice(0, maxLength).toLowerCase());
}
