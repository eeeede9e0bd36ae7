import { createContext, runInContext } from 'node:vm';

/** What V8 has and Hermes does not. */
const missing = [
  ...[
    'Atomics',
    'FinalizationRegistry',
    'Iterator',
    'SharedArrayBuffer',
    'Temporal',
    'WebAssembly',
  ],
  ...['AsyncDisposableStack', 'DisposableStack', 'SuppressedError'],
  ...['Array.fromAsync', 'Map.groupBy', 'Object.groupBy', 'Promise.try', 'Promise.withResolvers'],
  ...['difference', 'intersection', 'union'].map((name) => `Set.prototype.${name}`),
];

/** Creates a context with the built-in objects of Hermes and these globals, but none of Node's. */
export function createHermesContext(globals: object = {}) {
  const context = createContext({ ...globals });
  runInContext(missing.map((name) => `delete globalThis.${name};`).join('\n'), context);
  return { run: (script: string): unknown => runInContext(script, context) };
}

/** Globals that React Native adds and the recipes use. */
export const reactNativeGlobals = {
  ...{ console, queueMicrotask, performance, AbortController, Headers },
  ...{ setTimeout, clearTimeout, setInterval, clearInterval },
};

/** React Native's `fetch`: its responses have text, but no stream. */
export async function fetchText(url: string, init: RequestInit) {
  const response = await fetch(url, init);
  const text = await response.text();
  const { status, ok, headers } = response;
  const create = (): object => ({
    status,
    ok,
    headers,
    text: async () => text,
    json: async () => JSON.parse(text),
    clone: create,
  });
  return create();
}
