import { randomUUID } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { callHeaders } from '../contract/call-headers.ts';
import { BackendUnavailableError } from '../contract/error.ts';
import type { Operation } from '../contract/operation.ts';

/** What a request has beside the method of its operation. */
export interface ServiceRequest {
  /** Below the base URL, with its query string. */
  readonly path: string;
  /** The key to send instead of the valid one; `null` omits the `Authorization` header. */
  readonly apiKey?: string | null;
  readonly body?: string;
  /** The media type of the body, JSON by default; `null` omits the `Content-Type` header. */
  readonly contentType?: string | null;
  /** Without quotes. */
  readonly idempotencyKey?: string;
}

/** A response with its complete body. */
export type ServiceResponse = Pick<Response, 'status' | 'ok'> &
  Pick<IncomingMessage, 'headers'> & { readonly body: Uint8Array };

/** Sends a request, by default with the valid key. @throws BackendUnavailableError if it fails. */
export type Send = (operation: Operation, request: ServiceRequest) => Promise<ServiceResponse>;

/** The most bytes of a response body, which are those that the gateway reads. */
const maxBodyBytes = 4 * 1024 * 1024;

/** Creates a client with a valid key. Redirects are not followed. */
export function createSend(
  baseUrls: Readonly<Record<string, URL | undefined>>,
  apiKey: string,
  timeoutMs: number,
): Send {
  return async ({ method, service }, request) => {
    const url = new URL(baseUrls[service]?.href.replace(/\/+$/, '') + request.path);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const open = url.protocol === 'https:' ? requestHttps : requestHttp;
        const headers = headersOf({ apiKey, ...request });
        open(url, { method, headers, signal, joinDuplicateHeaders: true })
          .on('response', resolve)
          .on('error', reject)
          .on('continue', () => reject(new Error('100 (Continue), which the gateway cannot read')))
          .end(request.body);
      });
      const { statusCode: status = 0, headers } = response;
      const ok = status >= 200 && status <= 299;
      return { status, ok, headers, body: await readBody(response) };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = signal.aborted ? ` within ${timeoutMs} ms` : `: ${code ?? message}`;
      throw new BackendUnavailableError(`no complete response${reason}`, { cause: error });
    }
  };
}

function headersOf(request: ServiceRequest) {
  const { apiKey, body, contentType = 'application/json', idempotencyKey } = request;
  return {
    ...callHeaders,
    'x-request-id': randomUUID(),
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    ...(body !== undefined && contentType && { 'content-type': contentType }),
    ...(idempotencyKey && { 'idempotency-key': `"${idempotencyKey}"` }),
  };
}

async function readBody(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw new Error('the body is larger than 4 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
