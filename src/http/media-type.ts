import { parseAccept as parse } from 'hono/utils/accept';

/** A media range of an `Accept` header. */
export type MediaRange = ReturnType<typeof parseAccept>[number];

const json = 'application/json';
const graphqlResponse = 'application/graphql-response+json';
const wildcards = ['application/*', '*/*'];

/** Whether JSON is in a media range. */
export const isJson = (type: string) =>
  type === json || type === graphqlResponse || wildcards.includes(type);

/**
 * Reads an `Accept` header (RFC 9110, section 12.5.1): the ranges in lower case, the highest weight
 * first, and the type of a GraphQL response in JSON with its weight; undefined and 0 if JSON is not accepted.
 */
export function readAccept(accept: string) {
  const ranges = parseAccept(accept);
  const wildcard = ranges.find(({ type }) => wildcards.includes(type));
  const rangeOf = (name: string) => ranges.find(({ type }) => type === name) ?? wildcard;
  const ofJson = rangeOf(json);
  const ofResponse = rangeOf(graphqlResponse);
  // The one with the higher weight, or else the first in the header.
  const first = ranges.find((range) => range === ofJson || range === ofResponse);
  const weight = first?.q ?? 0;
  const jsonType = weight > 0 ? (first === ofJson ? json : graphqlResponse) : undefined;
  return { jsonType, weight, ranges: ranges.filter(({ q }) => q > 0) };
}

/** The most characters of a header that are read: parsing 15,000 takes milliseconds. */
const maxLength = 1000;

/** Parses `Accept` or `Accept-Encoding` to its types in lower case, the highest weight first. */
export function parseAccept(header: string) {
  return parse(header.slice(0, maxLength).toLowerCase());
}
