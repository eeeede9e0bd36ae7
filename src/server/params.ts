import { GraphQLError } from 'graphql';
import { parseJson } from '../contract/json.ts';

/**
 * A JSON object that carries an operation or a part of one, int64-exact.
 * @throws GraphQLError with HTTP status 400; it does not quote the text.
 */
export function parseParams(name: string, text: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    // The parser's own words would quote the text.
    throw badRequest(400, 'BAD_REQUEST', `${name}: expected JSON, received other text.`);
  }
  if (Array.isArray(json)) {
    throw badRequest(400, 'BAD_REQUEST', `${name}: expected a JSON object, received an array.`);
  }
  if (typeof json !== 'object' || json === null) {
    throw badRequest(400, 'BAD_REQUEST', `${name}: expected a JSON object.`);
  }
  return json as Record<string, unknown>;
}

/** An error of the request that carries the operation, answered with this HTTP status. */
export function badRequest(status: number, code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}
