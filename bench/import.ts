import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../test/support/postgres.ts';
import { commandStart } from '../test/support/process.ts';
import { layOut } from './table.ts';

const usage = `Usage: npm run bench:import -- [animals, 100000 by default]

Imports animals into SQLite and PostgreSQL while a gateway serves the same database, and asks the
gateway for /livez every five milliseconds.
`;
if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
const animals = Number(process.argv[2] ?? 100_000);
const command = 'dist/bin/main.js';

const folder = await mkdtemp(join(tmpdir(), 'import-'));
const file = join(folder, 'pets.jsonl');
const line = (id: number) => `{"id":${id},"name":"Rex","categoryId":1,"status":"available"}\n`;
await writeFile(file, Array.from({ length: animals }, (_, index) => line(index + 1)).join(''));
await using postgres = await startPostgres();
const rows = [
  await measure('SQLite', `file:${folder}/pets.db`),
  await measure('PostgreSQL', await postgres.createDatabase()),
];
await rm(folder, { recursive: true });
const header = [
  '',
  'animals',
  'import s',
  'peak MiB',
  '/livez',
  'median ms',
  'slowest ms',
  'slowdown',
];
process.stdout.write(layOut(header, rows));

/** A row of the table: what the import took, and how long /livez did meanwhile. */
async function measure(name: string, databaseUrl: string): Promise<string[]> {
  await using gateway = await commandStart(command, {
    DATABASE_URL: databaseUrl,
    NODE_ENV: 'production',
  });
  const before = await processorTime(gateway.pid);
  const start = performance.now();
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [command, 'import', 'pets', file], {
    env,
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  let isRunning = true;
  void ended.then(() => {
    isRunning = false;
  });
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  let peakMib = 0;
  while (isRunning) {
    times.push(await ask(`${gateway.url}/livez`, agent));
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakMib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakMib * 1024) / 1024;
    await wait(5);
  }
  agent.destroy();
  const [code] = await ended;
  if (code !== 0) throw new Error(`The import into ${name} ended with ${code}.`);
  const after = await processorTime(gateway.pid);
  const [ran, waited] = [after.ran - before.ran, after.waited - before.waited];
  times.sort((a, b) => a - b);
  return [
    name,
    String(animals),
    ((performance.now() - start) / 1000).toFixed(1),
    peakMib.toFixed(0),
    String(times.length),
    (times[times.length >> 1] ?? 0).toFixed(1),
    (times.at(-1) ?? 0).toFixed(1),
    ((ran + waited) / ran).toFixed(1),
  ];
}

/** How long a request took, in milliseconds. */
async function ask(url: string, agent: Agent): Promise<number> {
  const start = performance.now();
  const [response] = await once(get(url, { agent }), 'response');
  response.resume();
  await once(response, 'end');
  return performance.now() - start;
}

/** The time that the main thread of a process ran, and that it waited for a processor. */
async function processorTime(pid: number): Promise<{ ran: number; waited: number }> {
  const [ran = 1, waited = 0] = (await readFile(`/proc/${pid}/schedstat`, 'utf8'))
    .split(' ')
    .map(Number);
  return { ran, waited };
}
