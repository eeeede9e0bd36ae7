import { BackendUnavailableError } from '../contract/error.ts';

/** A request that a check sends; a POST if it has a body. */
export interface ServiceRequest {
  /** The key to send instead of the valid one; `null` omits the `Authorization` header. */
  readonly apiKey?: string | null;
  /** Sent unchanged. */
  readonly body?: string;
  /** The media type of the body, JSON by default; `null` omits the `Content-Type` header. */
  readonly contentType?: string | null;
}

/** Requests that the service must refuse with 401, with an id and a description for the rule. */
export const unauthenticatedRequests = [
  { id: 'no-key', description: 'without a key', request: { apiKey: null } },
  {
    id: 'wrong-key',
    description: 'with a wrong key',
    request: { apiKey: 'not-a-key-of-this-service' },
  },
] as const satisfies readonly { request: ServiceRequest; [name: string]: unknown }[];

/** A response with its complete body. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/**
 * Sends one request to a path below the base URL, by default a GET with the valid key.
 * @throws BackendUnavailableError if there is no complete response.
 */
export type Send = (path: string, request?: ServiceRequest) => Promise<ServiceResponse>;

/** The limit for a response body, in bytes. */
const maxBodyBytes = 8 * 1024 * 1024;

/**
 * Creates a client with a valid key for the service at `baseUrl`. A complete response must arrive within `timeoutMs`.
 * Redirects are not followed.
 */
export function createSend(baseUrl: URL, apiKey: string, timeoutMs: number): Send {
  const prefix = baseUrl.href.replace(/\/+$/, '');
  return async (path, request = {}) => {
    const { body } = request;
    try {
      const response = await fetch(prefix + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: headersOf({ apiKey, ...request }),
        // For a string body, fetch would add a Content-Type header.
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, headers: response.headers, body: await readBody(response) };
    } catch (error) {
      throw new BackendUnavailableError(reasonOf(error, timeoutMs), { cause: error });
    }
  };
}

function headersOf({ apiKey, body, contentType = 'application/json' }: ServiceRequest) {
  return {
    accept: 'application/json',
    // The gateway sends the same header.
    'accept-encoding': 'identity',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    ...(body !== undefined && contentType && { 'content-type': contentType }),
  };
}

async function readBody({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw new Error('the body is larger than 8 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return `no complete response within ${timeoutMs} ms`;
  const { code, message: reason } = (cause ?? {}) as NodeJS.ErrnoException;
  return `no complete response: ${code ?? reason ?? message}`;
}
