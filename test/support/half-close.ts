import { expect, vi } from 'vitest';

/**
 * Resolves when a client that has sent its request before the call can leave. One that leaves within
 * 20 ms can't be told from one that has only ended its side of the connection.
 */
export async function outlastHalfClose(): Promise<void> {
  const start = performance.now();
  await vi.waitFor(() => expect(performance.now() - start).toBeGreaterThan(20), { interval: 5 });
}
