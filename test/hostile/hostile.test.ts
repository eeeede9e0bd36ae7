import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layOut } from '../../bench/table.ts';
import type { Attack } from './attack.ts';
import type { AttackerData } from './attacker.ts';
import { attacks } from './attacks.ts';
import { type Built, buildGateway, startBuilt } from './gateway.ts';
import { runHonestClient } from './honest-client.ts';
import { keys as restKeys, startRestService } from './rest-service.ts';

/** The duration of each attack. */
const milliseconds = Number(process.env['HOSTILE_SECONDS'] ?? 0.5) * 1000;
const maxPeakMib = 400;
/**
 * How much longer than beside no attack a response may take. New connections are served in the order of their
 * arrival: behind a thousand others, a gateway that has just started needs up to a second. This is ten times that.
 */
const maxDelayMs = 10_000;

let built: Built;
let rest: Awaited<ReturnType<typeof startRestService>>;
/** A gateway that nobody attacks, on the same machine at the same time. */
let control: Awaited<ReturnType<typeof startBuilt>>;
const rows: string[][] = [];

beforeAll(async () => {
  built = await buildGateway();
  rest = await startRestService();
  control = await startBuilt(built.command, (await openBackend('rest')).env);
}, 300_000);

afterAll(async () => {
  const titles = [
    'attack',
    'requests',
    'peak MiB',
    'honest %',
    'median ms',
    'slowest ms',
    'control ms',
    'slowdown',
    'failures',
  ];
  process.stdout.write(`${layOut(titles, rows)}\n`);
  await control[Symbol.asyncDispose]();
  await rest[Symbol.asyncDispose]();
  await built[Symbol.asyncDispose]();
});

/** Prepares a fresh backend. @returns its keys and the gateway's settings. */
async function openBackend(backend: Attack['backend']) {
  if (backend === 'rest') return { keys: restKeys, env: { PETSTORE_BASE_URL: `${rest.url}/v1` } };
  const { folder, storeKeys } = built;
  // A copy, because a killed gateway leaves a write-ahead log behind.
  const file = join(folder, `attacked-${rows.length}.db`);
  await cp(join(folder, 'store.db'), file);
  return { keys: storeKeys, env: { DATABASE_URL: `file:${file}` } };
}

/** Runs the attack in a separate thread, so that it does not delay the honest client. */
async function runAttack(data: AttackerData): Promise<number> {
  const worker = new Worker(new URL('./attacker.ts', import.meta.url), { workerData: data });
  const timeout = setTimeout(() => worker.terminate(), data.milliseconds + 5000);
  try {
    const [sent] = await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
    return sent;
  } finally {
    clearTimeout(timeout);
    await worker.terminate();
  }
}

async function withstand({ id, backend, settings }: Attack) {
  const { keys, env } = await openBackend(backend);
  await using gateway = await startBuilt(built.command, { ...env, ...settings });
  const port = Number(new URL(gateway.url).port);
  const end = new AbortController();
  const honest = runHonestClient(gateway.url, keys.honest, end.signal);
  const undisturbed = runHonestClient(control.url, restKeys.honest, end.signal);
  const requests = await runAttack({ id, port, apiKey: keys.hostile, milliseconds });
  end.abort();
  const { sent, succeeded, medianMs, slowestMs, failures } = await honest;
  const other = await undisturbed;
  const { isAlive, peakMib, slowdown } = await gateway.measure();
  const percent = (100 * succeeded) / sent;
  const failed = [...failures].map(([failure, count]) => `${count} × ${failure}`).join(', ');
  const figures = [requests, peakMib, percent, medianMs, slowestMs, other.slowestMs].map((figure) =>
    figure.toFixed(0),
  );
  rows.push([id, ...figures, slowdown.toFixed(1), isAlive ? failed : `died; ${failed}`]);
  // The gateway is right to refuse requests when its event loop lags because it lacks CPU time.
  const excused = slowdown > 2 ? (failures.get('503 OVERLOADED') ?? 0) : 0;
  const served = (succeeded + excused) / sent / (other.succeeded / other.sent);
  return { isAlive, peakMib, served, delayMs: slowestMs - other.slowestMs };
}

describe('a gateway with 512 MiB that also serves an honest client', () => {
  it.each(attacks)(
    'withstands: $id',
    async (attack) => {
      const { isAlive, peakMib, served, delayMs } = await withstand(attack);
      expect(isAlive).toBe(true);
      expect(peakMib).toBeLessThan(maxPeakMib);
      expect(served).toBeGreaterThanOrEqual(0.95);
      expect(delayMs).toBeLessThan(maxDelayMs);
    },
    milliseconds + 120_000,
  );
});
