import { HttpError } from '../http/error.ts';
import type { Admission } from './admission.ts';

/** Admits every request until it is closed, and none after. */
export interface Gate extends Admission {
  /** Resolves when no request is in flight. */
  close(): Promise<void>;
}

/** Opens a gate for a gateway mounted in another server, which limits the load itself. */
export function openGate(): Gate {
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  let inFlight = 0;
  const leave = () => {
    inFlight--;
    if (isClosed && inFlight === 0) resolve();
  };
  return {
    enter() {
      if (isClosed) throw gatewayClosed();
      inFlight++;
      return leave;
    },
    close() {
      isClosed = true;
      if (inFlight === 0) resolve();
      return idle;
    },
  };
}

function gatewayClosed(): HttpError {
  return new HttpError(
    503,
    'UPSTREAM_UNAVAILABLE',
    'This gateway was disposed before this request arrived. Dispose it when your server shuts down.',
    { 'retry-after': '1' },
  );
}
