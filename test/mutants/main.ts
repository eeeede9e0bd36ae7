import { execFile, spawn } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type Mutant, mutate } from './mutant.ts';
import { rooms } from './rooms.ts';

const usage = `Usage: npm run dev -- mutants [--json] [ROOM|FILE...]
Tries the mutants of test/mutants, all or those of rooms and files: applies each to a copy of the checkout, and runs the
test file that should notice it. Exits with 1 if one survives. The rooms:
  ${Object.keys(rooms).join(', ')}
`;

/** How long the test file of a mutant may take, in milliseconds. One that hangs is noticed, too. */
const deadlineMs = 180_000;

interface Tried extends Mutant {
  readonly room: string;
  readonly file: string;
  readonly test: string;
}
type Result = Tried & { readonly outcome: Outcome };
type Outcome = 'killed' | 'timed out' | 'survived' | 'equivalent' | 'not tried';

/** Copies the checkout, with its changes that are not committed. */
async function copyCheckout(to: string): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', list, { maxBuffer: 2 ** 24 });
  for (const file of stdout.split('\0').filter(Boolean)) await cp(file, join(to, file));
  await symlink(join(process.cwd(), 'node_modules'), join(to, 'node_modules'));
}

/** Runs a test file until its first failure. */
async function runTest(copy: string, test: string): Promise<Outcome> {
  const limits = ['--bail=1', '--testTimeout=30000', '--hookTimeout=30000'];
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', test, ...limits],
    {
      cwd: copy,
      stdio: 'ignore',
      // A group of its own, which ends with it.
      detached: true,
    },
  );
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('exit', resolve);
  const timer = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), deadlineMs);
  const code = await promise.finally(() => clearTimeout(timer));
  return code === 0 ? 'survived' : code === null ? 'timed out' : 'killed';
}

async function tryMutant(copy: string, mutant: Tried): Promise<Outcome> {
  if (mutant.equivalent) return 'equivalent';
  const path = join(copy, mutant.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, mutate(text, mutant));
  return runTest(copy, mutant.test).finally(() => writeFile(path, text));
}

/** Tries mutants, those of one test file together: its tests have to pass without them. */
async function* tryAll(copy: string, mutants: readonly Tried[]): AsyncGenerator<Result> {
  for (const [test, ofTest] of Map.groupBy(mutants, (mutant) => mutant.test)) {
    const passes = (await runTest(copy, test)) === 'survived';
    for (const mutant of ofTest) {
      yield { ...mutant, outcome: passes ? await tryMutant(copy, mutant) : 'not tried' };
    }
  }
}

function formatTable(results: readonly Result[]): string {
  const rows = Array.from(
    Map.groupBy(results, ({ room }) => room),
    ([room, ofRoom]) => {
      const tried = ofRoom.filter(({ outcome }) => outcome !== 'equivalent');
      const noticed = tried.filter(({ outcome }) => /killed|timed out/.test(outcome));
      return `${room.padEnd(12)} ${noticed.length} of ${tried.length} noticed`;
    },
  );
  return `\n${rows.join('\n')}\n${results.filter(isUnnoticed).map(format).join('')}`;
}

const isUnnoticed = ({ outcome }: Result) => outcome === 'survived' || outcome === 'not tried';

const format = ({ outcome, file, promise, test }: Result) =>
  `${outcome.padEnd(10)} ${file}: ${promise} (${test})\n`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, help: { type: 'boolean' } },
});
const mutants = Object.entries(rooms)
  .flatMap(([room, files]) =>
    files.flatMap(({ file, test, mutants }) =>
      mutants.map((mutant): Tried => ({ room, file, test, ...mutant })),
    ),
  )
  .filter(
    ({ room, file }) =>
      positionals.length === 0 || [room, file].some((one) => positionals.includes(one)),
  );
if (values.help || mutants.length === 0) {
  (values.help ? process.stdout : process.stderr).write(usage);
  process.exit(values.help ? 0 : 2);
}
const copy = await mkdtemp(join(tmpdir(), 'pet-store-mutants-'));
const results: Result[] = [];
try {
  await chmod(copy, 0o755);
  await copyCheckout(copy);
  for await (const result of tryAll(copy, mutants)) {
    results.push(result);
    process.stderr.write(`${results.length}/${mutants.length} ${format(result)}`);
  }
} finally {
  await rm(copy, { recursive: true });
}
process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : formatTable(results));
process.exitCode = results.some(isUnnoticed) ? 1 : 0;
