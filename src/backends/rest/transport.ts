import { type Dispatcher, Pool } from 'undici';
import type { Call } from '../../contract/pet-store.ts';
import { DeadlineExceeded, toContractError } from './faults.ts';

/** One REST call: a path below a base address, and the JSON text to send with it. */
export interface RestRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** The status line, the headers, and the body's bytes of an answer. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: ArrayBuffer;
}

/** Sends calls to the origin of one base address. */
export interface Transport extends AsyncDisposable {
  /**
   * Sends the request with the caller's credential and reads the whole answer, redirects included
   * as answers.
   * @throws BackendTimeoutError, BackendUnavailableError or InvalidResponseError; the reason of
   *   `call.signal` when the caller left.
   */
  send(call: Call, request: RestRequest): Promise<RestResponse>;
}

/** No published response comes near it; a larger one is cut off and refused. */
const maxResponseBytes = 16 * 1024 * 1024;

/** Opens a transport to `baseUrl` that ends every call after `timeoutMs`. Connects lazily. */
export function openTransport(baseUrl: URL, timeoutMs: number): Transport {
  const pool = new Pool(baseUrl.origin, { maxResponseSize: maxResponseBytes });
  const prefix = baseUrl.pathname.replace(/\/+$/, '');

  return {
    async send(call, { method, path, body }) {
      const cancel = new AbortController();
      const deadline = setTimeout(() => cancel.abort(new DeadlineExceeded()), timeoutMs);
      const onCallerGone = () => cancel.abort(call.signal?.reason);
      // A write that was sent may have been carried out: it is never cancelled by its caller.
      if (method === 'GET') call.signal?.addEventListener('abort', onCallerGone, { once: true });
      try {
        call.signal?.throwIfAborted();
        const response = await pool.request({
          method,
          path: prefix + path,
          headers: {
            authorization: call.authorization,
            accept: 'application/json',
            // maxResponseSize counts bytes on the wire: an encoded body could unfold without bound.
            'accept-encoding': 'identity',
            'x-request-id': call.requestId,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: body ?? null,
          signal: cancel.signal,
        });
        return {
          status: response.statusCode,
          headers: response.headers,
          body: await response.body.arrayBuffer(),
        };
      } catch (error) {
        if (call.signal?.aborted && error === call.signal.reason) throw error;
        throw toContractError(error);
      } finally {
        clearTimeout(deadline);
        call.signal?.removeEventListener('abort', onCallerGone);
      }
    },
    async [Symbol.asyncDispose]() {
      await pool.close();
    },
  };
}
