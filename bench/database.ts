import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPetStore } from '../src/backends/open.ts';
import type { Call, PetStore } from '../src/contract/pet-store.ts';
import { createLog } from '../src/telemetry/log.ts';
import { Metrics } from '../src/telemetry/metrics.ts';
import { startPostgres } from '../test/support/postgres.ts';

const usage = `Usage: npm run bench:database -- [seconds a measurement, 5 unless given]

Measures durable writes and list calls a second of the built-in backend, on SQLite and PostgreSQL.
`;
if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
const seconds = Number(process.argv[2] ?? 5);
const callers = 16;
const call: Call = { apiKey: 'demo-key', authorization: 'Bearer demo-key', requestId: 'bench' };

const folder = await mkdtemp(join(tmpdir(), 'pet-store-'));
await using postgres = await startPostgres();
await measure('SQLite', `file:${folder}/bench.db`);
await measure('PostgreSQL', await postgres.createDatabase());
await rm(folder, { recursive: true });

async function measure(name: string, databaseUrl: string): Promise<void> {
  const telemetry = { log: createLog('silent', process.stderr), metrics: new Metrics() };
  const options = { kind: 'builtin', databaseUrl, demoKey: 'demo-key' } as const;
  const store: PetStore = await openPetStore(options, telemetry);
  const pet = { name: 'Rex', categoryId: '1', status: 'available' } as const;
  const workloads = {
    'durable writes': () => store.createPet(call, pet),
    'lists of 20': () => store.listPets(call, {}),
    'lists of 20, filtered': () => store.listPets(call, { status: 'sold' }),
  };
  for (const [workload, once] of Object.entries(workloads)) {
    process.stderr.write(`${name}: ${workload}…\n`);
    const end = performance.now() + seconds * 1000;
    let count = 0;
    const caller = async () => {
      while (performance.now() < end) {
        await once();
        count++;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    const rate = Math.round(count / seconds).toLocaleString('en');
    process.stdout.write(`${name.padEnd(12)}${workload.padEnd(24)}${rate.padStart(8)} a second\n`);
  }
  await store[Symbol.asyncDispose]();
}
