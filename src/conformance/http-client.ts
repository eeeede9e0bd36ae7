import { BackendUnavailableError } from '../contract/error.ts';
import { type Operation, type OperationId, operations } from '../contract/pet-store.ts';

/** What a request has beside the method and path of its operation. */
export interface ServiceRequest {
  /** Replaces the name in the path. */
  readonly parameter?: string;
  readonly search?: string;
  /** The key to send instead of the valid one; `null` omits the `Authorization` header. */
  readonly apiKey?: string | null;
  /** Sent unchanged. */
  readonly body?: string;
  /** The media type of the body, JSON by default; `null` omits the `Content-Type` header. */
  readonly contentType?: string | null;
}

/** A response with its complete body. */
export type ServiceResponse = Pick<Response, 'status' | 'ok' | 'headers'> & {
  readonly body: Uint8Array;
};

/**
 * Sends one request of an operation, by default with the valid key.
 * @throws BackendUnavailableError if there is no complete response.
 */
export type Send = (operation: OperationId, request?: ServiceRequest) => Promise<ServiceResponse>;

/** The limit for a response body, in bytes. */
const maxBodyBytes = 8 * 1024 * 1024;

/**
 * Creates a client with a valid key for the services at these base URLs. A complete response must
 * arrive within `timeoutMs`. Redirects are not followed.
 */
export function createSend(
  baseUrls: Readonly<Record<Operation['service'], URL | undefined>>,
  apiKey: string,
  timeoutMs: number,
): Send {
  return async (operation, request = {}) => {
    const { method, path, service } = operations[operation];
    const { parameter = '', search = '', body } = request;
    const prefix = baseUrls[service]?.href.replace(/\/+$/, '');
    try {
      const response = await fetch(prefix + path.replace(/\{\w+\}/, parameter) + search, {
        method,
        headers: headersOf({ apiKey, ...request }),
        // For a string body, fetch would add a Content-Type header.
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { status, ok, headers } = response;
      return { status, ok, headers, body: await readBody(response) };
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
