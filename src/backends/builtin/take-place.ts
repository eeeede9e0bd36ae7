import { lateError } from '../../contract/deadline.ts';
import type { KeyedCaller } from '../../keys/api-key.ts';
import type { Places } from '../../limits/places.ts';

/** Resolves when a query has its place. Rejects when its caller leaves or is late before that. */
export async function takePlace(
  places: Places,
  caller: KeyedCaller,
  deadlineAt: number,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasPlace = false;
  const send = () => {
    hasPlace = true;
    resolve();
    return true;
  };
  const query = { key: caller.key, send };
  places.enter(query);
  if (hasPlace) return;
  const leave = () => {
    places.leaveQueue(query);
    reject(caller.cancelled ?? lateError(false));
  };
  caller.whenCancelled(leave);
  const timer = setTimeout(leave, deadlineAt - performance.now());
  await promise.finally(() => clearTimeout(timer));
}
