import { HttpError } from '../http/error.ts';

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
    enter() {
      if (isClosed) {
        const message =
          'This gateway was disposed before this request arrived. Dispose it when your server shuts down.';
        throw new HttpError(503, 'UPSTREAM_UNAVAILABLE', message, { 'retry-after': '1' });
      }
      inFlight++;
      return leave;
    },
    /** Resolves when no request is in flight. */
    close() {
      isClosed = true;
      if (inFlight === 0) resolve();
      return idle;
    },
  };
}
