import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Calls back when undici reports an event on its diagnostics channels. */
export function onUndici(event: string, listener: () => void): Disposable {
  subscribe(`undici:${event}`, listener);
  return { [Symbol.dispose]: () => unsubscribe(`undici:${event}`, listener) };
}
