import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { openPetStore } from '../src/petstore/open.ts';
import { createLog } from '../src/telemetry/log.ts';
import { Metrics } from '../src/telemetry/metrics.ts';
import { callWith, openKeys } from '../test/support/gateway.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { median } from './figures.ts';
import { createPets } from './pets.ts';
import { layOut } from './table.ts';

const usage = `Usage: npm run dev -- bench:database [seconds]

Measures the writes and lists per second of the built-in backend on SQLite and PostgreSQL, and compares
them with the same statements in node:sqlite and pgbench (Debian's postgresql-contrib) on the same
databases, in alternating rounds. All writes are durable when acknowledged. Each measurement takes the
given number of seconds (default: 2).
`;
if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
const seconds = Number(process.argv[2] ?? 2);
const rounds = 5;
/** The number of concurrent callers, which equals the size of the backend's connection pool. */
const callers = 10;
const pet = { name: 'Rex', categoryId: '1', status: 'available' } as const;
const statements = {
  write: "insert into pets (name, category_id, status) values ('Rex', 1, 'available')",
  list: 'select * from pets order by id limit 20',
  filter: "select * from pets where status = 'sold' order by id limit 20",
};
type Workload = keyof typeof statements;

/** Runs a workload repeatedly. @returns the number of runs per second. */
type Measure = (workload: Workload) => Promise<number>;

const folder = await mkdtemp(join(tmpdir(), 'pet-store-'));
await using postgres = await startPostgres();
const rows = [
  ...(await compare('SQLite', `file:${folder}/bench.db`, 'node:sqlite', bySqlite)),
  ...(await compare('PostgreSQL', await postgres.createDatabase(), 'pgbench', byPgbench)),
];
await rm(folder, { recursive: true });
const header = ['', 'workload', 'backend/s', 'peer', 'peer/s', 'ratio'];
process.stdout.write(layOut(header, rows));

/** Compares the backend with a peer that runs the same statements on the same database. */
async function compare(
  name: string,
  databaseUrl: string,
  peerName: string,
  openPeer: (databaseUrl: string) => Measure,
): Promise<string[][]> {
  const telemetry = { log: createLog('silent', process.stderr), metrics: new Metrics() };
  const options = { kind: 'builtin', databaseUrl, demoKey: 'demo-key', timeoutMs: 10_000 } as const;
  await using store = await openPetStore(options, telemetry, openKeys());
  const call = callWith();
  for (const { name, status } of createPets(100)) {
    await store.createPet(call, { name, categoryId: '1', status });
  }
  const once = {
    write: () => store.createPet(call, pet),
    list: () => store.listPets(call, {}),
    filter: () => store.listPets(call, { status: 'sold' }),
  };
  const byBackend: Measure = (workload) => repeat(once[workload]);
  const byPeer =
    spawnSync(peerName, ['--version']).error && peerName === 'pgbench'
      ? undefined
      : openPeer(databaseUrl);
  const rows: string[][] = [];
  for (const workload of Object.keys(statements) as Workload[]) {
    const own: number[] = [];
    const others: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`${name}, ${workload}: round ${round} of ${rounds}\n`);
      own.push(await byBackend(workload));
      if (byPeer) others.push(await byPeer(workload));
    }
    const ratio = median(own.map((rate, round) => rate / (others[round] ?? Number.NaN)));
    rows.push([
      name,
      workload,
      format(median(own)),
      ...(byPeer
        ? [peerName, format(median(others)), ratio.toFixed(2)]
        : [`${peerName} is not installed`]),
    ]);
  }
  return rows;
}

async function repeat(once: () => Promise<unknown>): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const caller = async () => {
    while (performance.now() < end) {
      await once();
      count++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return count / seconds;
}

/** Runs the same prepared statements in one loop. SQLite has no server, so one caller suffices. */
function bySqlite(databaseUrl: string): Measure {
  const database = new DatabaseSync(databaseUrl.replace(/^file:/, ''), { readBigInts: true });
  database.exec('PRAGMA synchronous = FULL');
  const prepared = {
    write: database.prepare(`${statements.write} returning *`),
    list: database.prepare(statements.list),
    filter: database.prepare(statements.filter),
  };
  return async (workload) => {
    const statement = prepared[workload];
    const end = performance.now() + seconds * 1000;
    let count = 0;
    for (; performance.now() < end; count++) statement.all();
    return count / seconds;
  };
}

/** Runs pgbench with the same number of clients and, like the driver, the extended protocol. */
function byPgbench(databaseUrl: string): Measure {
  return async (workload) => {
    const script = join(folder, `${workload}.sql`);
    const returning = workload === 'write' ? ' returning *' : '';
    await writeFile(script, `${statements[workload]}${returning};\n`);
    const options = ['--no-vacuum', '--protocol=extended', `--client=${callers}`, '--jobs=1'];
    const { stdout } = await promisify(execFile)('pgbench', [
      ...options,
      `--time=${Math.ceil(seconds)}`,
      `--file=${script}`,
      databaseUrl,
    ]);
    return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  };
}

function format(rate: number): string {
  return Math.round(rate).toLocaleString('en');
}
