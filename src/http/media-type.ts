import { parseAccept as parse } from 'hono/utils/accept';

/**
 * Reads an `Accept` header (RFC 9110, section 12.5.1): the media type of a GraphQL response, and the
 * ranges with at least the weight of JSON, in lower case, the highest weight first.
 */
export function readAccept(accept = '') {
  const ranges = parseAccept(accept);
  const wildcard = ranges.find(({ type }) => type === 'application/*' || type === '*/*');
  const rangeOf = (name: string) => ranges.find(({ type }) => type === name) ?? wildcard;
  const json = rangeOf('application/json');
  const response = rangeOf('application/graphql-response+json');
  // The one with the higher weight, or else the first in the header.
  const first = ranges.find((range) => range === json || range === response);
  const weight = first?.q ?? 0;
  const isResponse = weight > 0 && first !== json;
  return {
    jsonType: isResponse ? 'application/graphql-response+json' : 'application/json',
    ranges: ranges.filter(({ q }) => q > 0 && q >= weight),
  };
}

/** The most characters of a header that are read: parsing 15,000 takes milliseconds. */
const maxLength = 1000;

/** Parses `Accept` or `Accept-Encoding` to its types in lower case, the highest weight first. */
export function parseAccept(header: string) {
  return parse(header.slice(0, maxLength).toLowerCase());
}
