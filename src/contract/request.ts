import {
  decodeMember,
  decodeNewMember,
  decodeNewRecord,
  decodeRecord,
  encodeMember,
  encodeRecord,
  parseUrlText,
} from './codec.ts';
import { InvalidInputError } from './error.ts';
import { type JsonText, shown } from './json.ts';
import { createListReader } from './list-text.ts';
import type { Operation } from './operation.ts';
import { readJson, readJsonText } from './response-json.ts';

/** A request to the REST service. */
export interface RestRequest extends Pick<Operation, 'method'> {
  /** The operation id of the contract, or the method and path of another request, for the metrics. */
  readonly operation: string;
  /** Below the base URL, with its query string. */
  readonly path: string;
  /** The path in the contract, with the names of parameters in braces. */
  readonly template?: string;
  /** The JSON text of the body. */
  readonly body?: string | undefined;
  /** The `Idempotency-Key` of a write, which may then be sent again. */
  readonly idempotencyKey?: string | undefined;
  /** See `Operation`. */
  readonly acceptsKeyWith404?: true | undefined;
  /** Whether a request before this one may have sent the same key. */
  readonly mayBeRepeated?: boolean;
}

/** The parts of a request of an operation: its path with the query string, and its body. */
export interface RequestParts {
  readonly path: string;
  readonly json: object | undefined;
}

/** What a request carries, as text and JSON. */
export interface ReceivedParts {
  /** The parameters of the path in their order, as the URL has them. */
  readonly segments: readonly string[];
  readonly search: string;
  /** Parses the body. */
  json(): unknown;
}

type Named = Readonly<Record<string, unknown>>;

/** The names of the parameters in a path, in their order. */
const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Whether calls of an operation receive an object of all parts, and not the only one. */
function isNamed({ path, query, body }: Operation): boolean {
  const { length } = namesIn(path);
  return query !== undefined || length > 1 || (length === 1 && body !== undefined);
}

/** Creates the function that returns the value of a call with its parts by name; see `ValueOf`. */
export function createValue(operation: Operation): (parts: Named) => unknown {
  return isNamed(operation) ? (parts) => parts : (parts) => Object.values(parts)[0];
}

/** Encodes a parameter. @throws InvalidInputError for text that no URL can carry. */
function encode(name: string, value: unknown): string {
  const text = String(value);
  if (text.isWellFormed()) return encodeURIComponent(text);
  throw new InvalidInputError(`${name}: expected well-formed Unicode, received ${shown(text)}.`);
}

/** Encodes a parameter of a path. @throws InvalidInputError also for one that a URL resolves, or loses. */
function encodeSegment(name: string, value: unknown): string {
  const text = encode(name, value);
  if (!/^\.{0,2}$/.test(text)) return text;
  throw new InvalidInputError(`${name}: expected a name, received ${shown(value)}.`);
}

/**
 * Creates the function that writes the request for the value of a call; see `ValueOf`. It throws
 * InvalidInputError if a URL can't carry a parameter.
 */
export function createRequestWriter(operation: Operation): (value: unknown) => RequestParts {
  const { path: template, query, body } = operation;
  const names = Object.keys(query ?? {});
  const hasParameters = template.includes('{');
  const isObject = isNamed(operation);
  return (value) => {
    const named = isObject ? (value as Named) : undefined;
    const path = hasParameters
      ? template.replaceAll(/\{(\w+)\}/g, (_, name) =>
          encodeSegment(name, named ? named[name] : value),
        )
      : template;
    let search = '';
    for (const name of names) {
      const one = named?.[name];
      if (one !== undefined) search += `${search === '' ? '?' : '&'}${name}=${encode(name, one)}`;
    }
    if (body === undefined) return { path: path + search, json: undefined };
    const content = named ? named['body'] : value;
    const json =
      'member' in body ? encodeMember(body, content) : encodeRecord(body, content as never);
    return { path: path + search, json };
  };
}

/**
 * Creates the function that reads the value of a call from a request. It throws InvalidInputError that
 * names the first invalid part.
 */
export function createRequestReader(operation: Operation): (received: ReceivedParts) => unknown {
  const { path, parameters = {}, query = {}, body } = operation;
  const names = namesIn(path);
  const toValue = createValue(operation);
  return ({ segments, search, json }) => {
    const named: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) {
      const segment = segments[index] ?? '';
      const kind = parameters[name];
      if (kind) named[name] = parseUrlText(name, kind, decodeSegment(segment), segment);
    }
    const values = new URLSearchParams(search);
    for (const [name, { kind }] of Object.entries(query)) {
      const [text, ...others] = values.getAll(name);
      if (others.length > 0) {
        const received = others.length + 1;
        throw new InvalidInputError(`${name}: expected one value, received ${received}.`);
      }
      named[name] = text === undefined ? undefined : parseUrlText(name, kind, text);
    }
    if (body !== undefined) {
      named['body'] =
        'member' in body ? decodeNewMember(body, json()) : decodeNewRecord(body, json());
    }
    return toValue(named);
  };
}

/** Decodes a percent-encoded path segment; returns undefined for a malformed one, which no kind accepts. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Returns the function that reads the body of a success. It throws InvalidResponseError. */
export function createResponseReader({ response }: Operation): (text: string) => unknown {
  if (response === 'json') return readJsonText;
  if (response === 'nothing') return () => undefined;
  if ('listOf' in response) return createListReader(response);
  if ('member' in response) return (text) => decodeMember(response, readJson(text));
  return (text) => decodeRecord(response, readJson(text));
}

/** Returns the function that writes the body of a success. */
export function createResponseWriter({ response }: Operation): (result: unknown) => string {
  if (response === 'json') return (result) => (result as JsonText).text;
  if (response === 'nothing') return () => '';
  if ('listOf' in response) {
    const encode = (record: unknown) => encodeRecord(response.listOf, record as never);
    return (result) => JSON.stringify(Array.from(result as Iterable<unknown>, encode));
  }
  if ('member' in response) return (result) => JSON.stringify(encodeMember(response, result));
  return (result) => JSON.stringify(encodeRecord(response, result as never));
}
