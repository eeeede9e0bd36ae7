import { jsonType } from '../contract/json.ts';
import { parseSmallJson, readJsonBody } from '../http/body.ts';
import { badRequest, type HttpError, methodNotAllowed } from '../http/error.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { GraphqlParams } from './host-context.ts';

type Members = Readonly<Record<string, unknown>>;

/** The type of each parameter. */
const types: Readonly<Record<string, 'string' | 'object'>> = {
  query: 'string',
  operationName: 'string',
  variables: 'object',
  extensions: 'object',
  documentId: 'string',
} satisfies Record<keyof GraphqlParams, 'string' | 'object'>;

/**
 * Reads the parameters from a JSON body or a URL, with exact int64 values. Form bodies are refused,
 * because any web page could submit one.
 * @throws HttpError with status 400, 405, 413 or 415. It does not quote the body.
 */
export function readParams(request: GatewayRequest): GraphqlParams {
  const { method, search } = request.head;
  if (method === 'POST') {
    const json = readJsonBody(request.head, request.body);
    if (jsonType(json) !== 'object') throw objectExpected('body', json);
    return checkParams(json as Members);
  }
  if (method === 'GET' || method === 'HEAD') return checkParams(readSearch(search));
  throw methodNotAllowed('GET, HEAD, POST', method);
}

function readSearch(search: string | undefined): Members {
  const members: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    // Other parameters are ignored: links may have more, such as tracking parameters.
    if (!Object.hasOwn(types, name) || value === '' || name in members) continue;
    members[name] = types[name] === 'object' ? parseSmallJson(name, value) : value;
  }
  return members;
}

/** Null and an empty string count as absent, because clients send them as such. */
function checkParams(members: Members): GraphqlParams {
  const params: Record<string, unknown> = {};
  // Others are ignored (GraphQL over HTTP, section 5.1).
  for (const name in types) {
    const value = members[name];
    if (value === undefined || value === null) continue;
    const type = types[name];
    if (jsonType(value) === type) {
      if (value !== '') params[name] = value;
    } else if (type === 'object') throw objectExpected(name, value);
    else if (name !== 'documentId') {
      throw badRequest(`${name}: expected a string, received ${typeName(value)}.`);
    }
  }
  return params;
}

function objectExpected(name: string, value: unknown): HttpError {
  let advice = '';
  if (typeof value === 'string') advice = ' Send the object itself, not its text in quotes.';
  if (name === 'body' && Array.isArray(value)) advice = ' Send each operation in its own request.';
  return badRequest(`${name}: expected a JSON object, received ${typeName(value)}.${advice}`);
}

function typeName(value: unknown): string {
  const type = jsonType(value);
  return type === 'null' ? type : `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Replaces each number that JavaScript may have rounded, at any depth, by a value that no type accepts. */
export function refuseRounded<Value>(variables: Value): Value {
  return mapLeaves(variables, (value) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
    // Messages of graphql-js show what `toJSON` returns.
    const shown = `the number ${value}, which may be rounded: pass a string or a bigint`;
    return { toJSON: () => shown };
  });
}

/** Replaces each integer that a double cannot represent by its digits, for hooks of others that write JSON. */
export function withoutBigints<Value>(value: Value): Value {
  return mapLeaves(value, (leaf) => (typeof leaf === 'bigint' ? String(leaf) : leaf));
}

/** Replaces values that are no objects and arrays, to the depth of accepted JSON: a host's may be circular. */
function mapLeaves<Value>(value: Value, map: (leaf: unknown) => unknown, depth?: number): Value;
function mapLeaves(value: unknown, map: (leaf: unknown) => unknown, depth = 0): unknown {
  if (depth > 500) return value;
  const mapOne = (one: unknown) => mapLeaves(one, map, depth + 1);
  if (Array.isArray(value)) {
    const mapped = value.map(mapOne);
    return mapped.every((item, index) => item === value[index]) ? value : mapped;
  }
  if (jsonType(value) !== 'object') return map(value);
  const entries = Object.entries(value as Members);
  return Object.fromEntries(entries.map(([name, member]) => [name, mapOne(member)]));
}
