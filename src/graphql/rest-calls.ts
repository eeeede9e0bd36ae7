import { BackendUnavailableError, InvalidInputError } from '../contract/error.ts';
import { type JsonText, parseJson, stringifyJson } from '../contract/json.ts';
import type { PetStore, RestRequest } from '../contract/pet-store.ts';
import { type AuthorizedCall, loadEach } from './context.ts';

/** Values for the names in braces of a path; the others become its query string. */
export type PathParameters = Readonly<
  Record<string, string | number | bigint | boolean | null | undefined>
>;

/**
 * Calls to other paths of the REST service, with the caller's credential and everything that applies to
 * the calls of the pet store. Both resolve to the parsed body, in which an integer beyond 2^53 is a
 * bigint. They reject with the errors of `PetStore`, with InvalidInputError if a parameter cannot
 * be part of a path, and with TypeError if the path is not below the base URL.
 */
export interface RestCalls {
  /** Equal reads of a request are one call: `get('/categories/{id}', { id: categoryId })`. */
  get(path: string, parameters?: PathParameters): Promise<unknown>;
  /** Sends a body as JSON; a bigint keeps all digits. */
  post(path: string, body: unknown, parameters?: PathParameters): Promise<unknown>;
}

/** Creates the calls of a request. */
export function createRestCalls({ send }: PetStore, withCall: AuthorizedCall): RestCalls {
  const call = (request: RestRequest) =>
    withCall((own) => (send ? send(own, request) : Promise.reject(noService())));
  const load = loadEach(call, ({ path }) => path);
  // Each caller gets values of its own, because equal reads of other requests share the text.
  const parse = ({ text }: JsonText) => parseJson(text);
  return {
    get: async (template, parameters) => parse(await load(toRequest('GET', template, parameters))),
    post: async (template, body, parameters) =>
      parse(await call({ ...toRequest('POST', template, parameters), body: stringifyJson(body) })),
  };
}

function toRequest(
  method: RestRequest['method'],
  template: string,
  parameters: PathParameters = {},
): RestRequest {
  const rest = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value != null && !template.includes(`{${name}}`)) rest.append(name, String(value));
  }
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeSegment(name, parameters[name]),
  );
  const search = rest.size === 0 ? '' : `${path.includes('?') ? '&' : '?'}${rest}`;
  if (!isBelowBase(path)) {
    throw new TypeError(
      `rest: expected a path below the base URL, such as "/categories/{id}", received ${JSON.stringify(template)}.`,
    );
  }
  return { operation: `${method} ${template}`, method, path: path + search };
}

/** Encodes a part of a path. Services resolve `.` and `..` even if they are encoded. */
function encodeSegment(name: string, value: PathParameters[string]): string {
  const text = String(value ?? '');
  if (text !== '' && text.isWellFormed() && !hasDots(text)) return encodeURIComponent(text);
  throw new InvalidInputError(
    `${name}: expected a part of a path, received ${JSON.stringify(text.slice(0, 60))}.`,
  );
}

/** Whether a path is in the form that it is sent in: without a host, dot segments or a fragment. */
function isBelowBase(path: string): boolean {
  const url = path.startsWith('/') && !path.startsWith('//') && URL.parse(path, 'http://service');
  if (!url || url.pathname + url.search !== path) return false;
  try {
    return !hasDots(decodeURIComponent(url.pathname));
  } catch {
    return false;
  }
}

function hasDots(text: string): boolean {
  return /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(text);
}

function noService(): BackendUnavailableError {
  const message =
    'This field needs a REST service: set PETSTORE_BASE_URL. The built-in backend has no other paths.';
  return new BackendUnavailableError(message, { writeOutcome: 'NOT_DONE' });
}
