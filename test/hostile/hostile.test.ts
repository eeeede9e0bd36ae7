import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layOut } from '../../bench/table.ts';
import type { Attack } from './attack.ts';
import type { AttackOrder } from './attacker.ts';
import { attacks } from './attacks.ts';
import { type Built, buildGateway, startBuilt } from './gateway.ts';
import { beHonest } from './honest-client.ts';
import { keys as restKeys, startRestService } from './rest-service.ts';

/** How long each attack goes on. */
const milliseconds = Number(process.env['HOSTILE_SECONDS'] ?? 0.5) * 1000;
const maxPeakMib = 400;
/** Twice the 500 ms of a gateway alone on a machine: this one runs the attacker too. */
const maxSlowestMs = 1000;

let built: Built;
let rest: Awaited<ReturnType<typeof startRestService>>;
const rows: string[][] = [];

beforeAll(async () => {
  built = await buildGateway();
  rest = await startRestService();
}, 60_000);

afterAll(async () => {
  const titles = [
    'attack',
    'requests',
    'peak MiB',
    'honest %',
    'slowest ms',
    'slowdown',
    'instead',
  ];
  process.stdout.write(`${layOut(titles, rows)}\n`);
  await rest[Symbol.asyncDispose]();
  await built[Symbol.asyncDispose]();
});

/** The keys and the settings of a backend that no attack has been at. */
async function openBackend(backend: Attack['backend']) {
  if (backend === 'rest') return { keys: restKeys, env: { PETSTORE_BASE_URL: `${rest.url}/v1` } };
  const { folder, storeKeys } = built;
  // A killed gateway leaves a write-ahead log, which belongs to no other database.
  const file = join(folder, `attacked-${rows.length}.db`);
  await cp(join(folder, 'store.db'), file);
  return { keys: storeKeys, env: { DATABASE_URL: `file:${file}` } };
}

/** Runs the attack in a thread of its own, so that its work is not the honest client's wait. */
async function runAttack(order: AttackOrder): Promise<number> {
  const worker = new Worker(new URL('./attacker.ts', import.meta.url), { workerData: order });
  const late = setTimeout(() => worker.terminate(), order.milliseconds + 5000);
  try {
    const [sent] = await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
    return sent;
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}

async function endure({ id, backend, settings }: Attack) {
  const { keys, env } = await openBackend(backend);
  await using gateway = await startBuilt(built.command, { ...env, ...settings });
  const port = Number(new URL(gateway.url).port);
  const end = new AbortController();
  const honesty = beHonest(gateway.url, keys.honest, end.signal);
  const requests = await runAttack({ id, port, apiKey: keys.hostile, milliseconds });
  end.abort();
  const { asked, answered, slowestMs, failures } = await honesty;
  const { lives, peakMib, slowdown } = await gateway.examine();
  const percent = (100 * answered) / asked;
  const instead = [...failures].map(([failure, count]) => `${count} × ${failure}`).join(', ');
  const figures = [requests, peakMib, percent, slowestMs].map((figure) => figure.toFixed(0));
  rows.push([id, ...figures, slowdown.toFixed(1), lives ? instead : `died; ${instead}`]);
  // A loop that lags because others have the processor refuses requests, as it should.
  const excused = slowdown > 2 ? (failures.get('503 OVERLOADED') ?? 0) : 0;
  return { lives, peakMib, served: (answered + excused) / asked, ownMs: slowestMs / slowdown };
}

describe('a gateway with 512 MiB, beside an honest client', () => {
  it.each(attacks)(
    'endures: $id',
    async (attack) => {
      const { lives, peakMib, served, ownMs } = await endure(attack);
      expect(lives).toBe(true);
      expect(peakMib).toBeLessThan(maxPeakMib);
      expect(served).toBeGreaterThanOrEqual(0.95);
      expect(ownMs).toBeLessThan(maxSlowestMs);
    },
    milliseconds + 30_000,
  );
});
