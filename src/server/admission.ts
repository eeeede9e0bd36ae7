import { HttpError } from '../http/error.ts';
import type { HttpRequest } from '../http/message.ts';

/** Decides whether requests are admitted, before any work is done for them. */
export interface Admission {
  /**
   * Admits a request until its scope ends; `record` then shows whether the backend has accepted its
   * key. Returns a promise only if it has to wait. @throws HttpError if the request is refused; the
   * promise may reject with one.
   */
  admit(
    request: Pick<HttpRequest, 'key' | 'headers'>,
    record: { readonly keyAccepted: boolean },
    scope: DisposableStack,
  ): Promise<unknown> | undefined;
}

/**
 * Opens an `Admission` for a gateway mounted in another server, which limits the load itself. It
 * admits every request until it is closed, and none after.
 */
export function openGate() {
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  let inFlight = 0;
  const leave = () => {
    inFlight--;
    if (isClosed && inFlight === 0) resolve();
  };
  return {
    admit(_request: unknown, _record: unknown, scope: DisposableStack): undefined {
      if (isClosed) {
        const message =
          'This gateway was disposed before this request arrived. Dispose it when your server shuts down.';
        throw new HttpError(503, 'UPSTREAM_UNAVAILABLE', message, { 'retry-after': '1' });
      }
      inFlight++;
      scope.defer(leave);
    },
    /** Resolves when no request is in flight. */
    close() {
      isClosed = true;
      if (inFlight === 0) resolve();
      return idle;
    },
  };
}
