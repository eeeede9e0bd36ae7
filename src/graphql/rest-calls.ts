import { InvalidInputError } from '../contract/error.ts';
import { type JsonText, parseJson, stringifyJson } from '../contract/json.ts';
import type { RestRequest } from '../contract/request.ts';

/** Values for the names in braces of a path; the others become its query string. */
export type PathParameters = Readonly<
  Record<string, string | number | bigint | boolean | null | undefined>
>;

/**
 * Calls other paths of the REST service, with the caller's credential and everything that applies to
 * the calls of the pet store. The methods resolve to the parsed body, with numbers that a double cannot
 * represent as strings. They reject with the errors of `PetStore`, or with InvalidInputError if the path
 * is not below the base URL.
 */
export class RestCalls {
  readonly #send: (request: RestRequest) => Promise<JsonText>;

  /** @param send sends a request with the credential of the caller */
  constructor(send: (request: RestRequest) => Promise<JsonText>) {
    this.#send = send;
  }

  /** Equal reads of a request are one call: `get('/owners/{id}', { id: ownerId })`. */
  async get(path: string, parameters?: PathParameters): Promise<unknown> {
    // Parsed for each caller, because equal reads share the text.
    return parseJson((await this.#send(toRequest('GET', path, parameters))).text, String);
  }

  /** Sends a body as JSON; a bigint keeps all digits. */
  async post(path: string, body: unknown, parameters?: PathParameters): Promise<unknown> {
    const request = { ...toRequest('POST', path, parameters), body: stringifyJson(body) };
    return parseJson((await this.#send(request)).text, String);
  }
}

function toRequest(
  method: RestRequest['method'],
  template: string,
  parameters: PathParameters = {},
): RestRequest {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value != null && !template.includes(`{${name}}`)) query.append(name, String(value));
  }
  // Without a value, a parameter is a fragment, which is refused below.
  const encode = (_: string, name: string) =>
    encodeURIComponent(String(parameters[name] ?? '').toWellFormed()) || '#';
  const path = template.replaceAll(/\{(\w+)\}/g, encode);
  const url = /^\/(?!\/)/.test(path) && URL.parse(path, 'http://service');
  if (!url || url.pathname + url.search !== path || dots.test(url.pathname)) {
    throw new InvalidInputError('Expected a path below the base URL, and no empty parameters.');
  }
  const search = query.size === 0 ? '' : `${url.search ? '&' : '?'}${query}`;
  return { operation: `${method} ${template.replace(/\?.*/s, '')}`, method, path: path + search };
}

/** A segment of dots: services may decode a path, or cut off `;` and what follows, before they resolve it. */
const dots = /(?:\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|;|%3b|$)/i;
