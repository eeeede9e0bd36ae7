/** What the test files of a run share. */
export type Shared = 'browser' | 'client-package' | 'command' | 'gateway-package' | 'postgres';

// Tests may replace it.
const { fetch } = globalThis;

/**
 * Returns the path or the address of what the test files of this run share (`open-shared.ts`). The first
 * caller waits until it is built or started. @returns undefined outside a test run.
 */
export async function shared(name: Shared): Promise<string | undefined> {
  const url = process.env['TEST_SHARED'];
  if (url === undefined) return undefined;
  const response = await fetch(`${url}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${name}: ${text}`);
  return text;
}
