import { decodeUtf8, jsonType, parseJson } from '../../contract/json.ts';
import { HttpError } from '../../http/error.ts';
import { requireSmallJson } from '../../http/json-limits.ts';
import { isJsonType, unsupportedMediaType } from '../../http/media-type.ts';
import type { HttpRequest } from '../../http/message.ts';

/**
 * The parameters of a GraphQL request (GraphQL over HTTP, section 5.1), with their types checked.
 */
export interface GraphqlParams {
  /** The text of the document; undefined if only its hash was sent. */
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** Only `persistedQuery` and `clientLibrary` are read. */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** The hash of a document (GraphQL over HTTP, appendix "Persisted Documents"). */
  readonly documentId?: string | undefined;
}

/**
 * Reads the parameters from a JSON body or a URL, with exact int64 values. Form bodies are refused,
 * because any web page could submit one.
 * @throws HttpError with status 400, 405, 413 or 415. It does not quote the body.
 */
export function readParams(
  request: Pick<HttpRequest, 'method' | 'search' | 'headers' | 'body'>,
): GraphqlParams {
  if (request.method === 'POST') return readBody(request);
  if (request.method === 'GET') return readSearch(request.search);
  throw new HttpError(405, 'BAD_REQUEST', 'Expected GET or POST, received another method.', {
    allow: 'GET, POST',
  });
}

function readBody({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): GraphqlParams {
  const contentType = headers['content-type'];
  if (!isJsonType(contentType)) throw unsupportedMediaType(contentType);
  if (body instanceof HttpError) throw body;
  let text: string;
  try {
    text = decodeUtf8(body);
  } catch {
    throw badRequest('body: expected UTF-8 text, received other bytes.');
  }
  return checkParams(parseObject('body', text));
}

function readSearch(search: string): GraphqlParams {
  const members: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    // Other parameters are ignored: links may have more, such as tracking parameters.
    if (!memberNames.has(name) || value === '' || name in members) continue;
    const isJson = name === 'variables' || name === 'extensions';
    members[name] = isJson ? parseObject(name, value) : value;
  }
  return checkParams(members);
}

/**
 * Parses a JSON object. @throws HttpError, because the parser's own message would quote the text.
 */
function parseObject(name: string, text: string): Record<string, unknown> {
  requireSmallJson(name, text);
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw badRequest(`${name}: expected JSON, received other text.`);
  }
  if (isObject(json)) return json;
  throw objectExpected(name, json);
}

function checkParams(members: Record<string, unknown>): GraphqlParams {
  for (const name in members) {
    if (!memberNames.has(name) && members[name] !== null) {
      throw badRequest(
        `body: expected query, variables, operationName, extensions or documentId, received ${JSON.stringify(name.slice(0, 64))}.`,
      );
    }
  }
  const { documentId } = members;
  return {
    query: readString(members, 'query'),
    operationName: readString(members, 'operationName'),
    variables: readObject(members, 'variables'),
    extensions: readObject(members, 'extensions'),
    documentId: typeof documentId === 'string' ? documentId : undefined,
  };
}

/** Reads a string. Null and an empty string count as absent, because clients send them as such. */
function readString(members: Record<string, unknown>, name: string): string | undefined {
  const value = members[name];
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (value == null) return undefined;
  throw badRequest(`${name}: expected a string, received ${typeName(value)}.`);
}

function readObject(
  members: Record<string, unknown>,
  name: string,
): Record<string, unknown> | undefined {
  const value = members[name];
  if (value == null) return undefined;
  if (isObject(value)) return value;
  throw objectExpected(name, value);
}

function objectExpected(name: string, value: unknown): HttpError {
  let advice = '';
  if (typeof value === 'string') advice = ' Send the object itself, not its text in quotes.';
  if (name === 'body' && Array.isArray(value)) advice = ' Send each operation in its own request.';
  return badRequest(`${name}: expected a JSON object, received ${typeName(value)}.${advice}`);
}

const memberNames = new Set(['query', 'variables', 'operationName', 'extensions', 'documentId']);

function isObject(value: unknown): value is Record<string, unknown> {
  return jsonType(value) === 'object';
}

function typeName(value: unknown): string {
  const type = jsonType(value);
  return type === 'null' ? type : `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`;
}

function badRequest(message: string): HttpError {
  return new HttpError(400, 'BAD_REQUEST', message);
}
