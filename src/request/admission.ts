import { HttpError } from '../http/error.ts';
import type { Scope } from './scope.ts';

/** Decides whether requests are admitted, before any work is done for them. */
export interface Admission {
  /** Admits a request until its end. @throws HttpError if it is refused. */
  admit(scope: Scope): void;
}

/**
 * Opens an `Admission` for a gateway mounted in another server, which limits the load itself. It
 * admits every request until it is closed, and none after.
 */
export function openGate() {
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  let inFlight = 0;
  const place = {
    release() {
      inFlight--;
      if (isClosed && inFlight === 0) resolve();
    },
  };
  return {
    admit(scope: Scope) {
      if (isClosed) {
        const message =
          'This gateway was disposed before this request arrived. Dispose it when your server shuts down.';
        throw new HttpError(503, 'GATEWAY_CLOSED', message, { 'retry-after': '1' });
      }
      inFlight++;
      scope.hold(place, 1);
    },
    /** Resolves when no request is in flight. */
    close() {
      isClosed = true;
      if (inFlight === 0) resolve();
      return idle;
    },
  };
}
