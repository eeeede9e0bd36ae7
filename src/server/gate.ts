import { HttpError } from '../http/error.ts';
import type { Admission } from './admission.ts';

/** An admission that can be ended: it refuses nothing until then, and everything after. */
export interface Gate extends Admission {
  /** Resolves when all that was taken in has left. */
  close(): Promise<void>;
}

/** Opens a gate, for a gateway whose server decides how much it takes in. */
export function openGate(): Gate {
  const { promise: empty, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  let inside = 0;
  return {
    enter() {
      if (isClosed) throw gatewayClosed();
      inside++;
    },
    leave() {
      inside--;
      if (isClosed && inside === 0) resolve();
    },
    close() {
      isClosed = true;
      if (inside === 0) resolve();
      return empty;
    },
  };
}

function gatewayClosed(): HttpError {
  return new HttpError(
    503,
    'UPSTREAM_UNAVAILABLE',
    'This gateway is closed: it was disposed of before this request came. Dispose of it when your server ends.',
  );
}
