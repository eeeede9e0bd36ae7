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

const usage = `Usage: npm run dev -- bench:import [pets]

Imports pets into SQLite and PostgreSQL while a gateway serves the same database, and measures
the gateway's response time with a request to /livez every five milliseconds. The default is
100,000 pets.
`;
if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
const pets = Number(process.argv[2] ?? 100_000);
const command = 'dist/bin/main.js';

const folder = await mkdtemp(join(tmpdir(), 'import-'));
const file = join(folder, 'pets.jsonl');
const line = (id: number) => `{"id":${id},"name":"Rex","categoryId":1,"status":"available"}\n`;
await writeFile(file, Array.from({ length: pets }, (_, index) => line(index + 1)).join(''));
await using postgres = await startPostgres();
const rows = [
  await measure('SQLite', `file:${folder}/pets.db`),
  await measure('PostgreSQL', await postgres.createDatabase()),
];
await rm(folder, { recursive: true });
const header = [
  '',
  'pets',
  'import s',
  'peak MiB',
  '/livez',
  'median ms',
  'slowest ms',
  'slowdown',
];
process.stdout.write(layOut(header, rows));

/** Measures an import, and the response times of /livez during it. @returns a row of the table. */
async function measure(name: string, databaseUrl: string): Promise<string[]> {
  await using gateway = await commandStart(command, {
    DATABASE_URL: databaseUrl,
    NODE_ENV: 'production',
  });
  const before = await readSchedulerTimes(gateway.pid);
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
    times.push(await measureRequest(`${gateway.url}/livez`, agent));
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakMib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakMib * 1024) / 1024;
    await wait(5);
  }
  agent.destroy();
  const [code] = await ended;
  if (code !== 0) throw new Error(`The import into ${name} exited with ${code}.`);
  const after = await readSchedulerTimes(gateway.pid);
  const [ran, waited] = [after.ran - before.ran, after.waited - before.waited];
  times.sort((a, b) => a - b);
  return [
    name,
    String(pets),
    ((performance.now() - start) / 1000).toFixed(1),
    peakMib.toFixed(0),
    String(times.length),
    (times[times.length >> 1] ?? 0).toFixed(1),
    (times.at(-1) ?? 0).toFixed(1),
    ((ran + waited) / ran).toFixed(1),
  ];
}

/** Sends a request. @returns its duration in milliseconds. */
async function measureRequest(url: string, agent: Agent): Promise<number> {
  const start = performance.now();
  const [response] = await once(get(url, { agent }), 'response');
  response.resume();
  await once(response, 'end');
  return performance.now() - start;
}

/** The time that the main thread of a process ran, and the time that it waited for a core. */
async function readSchedulerTimes(pid: number): Promise<{ ran: number; waited: number }> {
  const [ran = 1, waited = 0] = (await readFile(`/proc/${pid}/schedstat`, 'utf8'))
    .split(' ')
    .map(Number);
  return { ran, waited };
}
