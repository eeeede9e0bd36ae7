import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { tasks } from './tasks.ts';

const usage = `Usage: node test/steps.ts [--at-once=N] SCRIPT... [then SCRIPT...]
Runs scripts of package.json and tasks of tasks.ts, N at once (one per core), and after "then" the next ones. Prints the output
of each when it ends, last which of them passed, and the last lines of those that failed.
`;

const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const commands: Readonly<Record<string, string>> = { ...scripts, ...tasks };

interface Step {
  readonly name: string;
  readonly hasPassed: boolean;
  readonly seconds: number;
  readonly output: string;
}

function run(name: string): Promise<Step> {
  const start = performance.now();
  const PATH = `${root}node_modules/.bin:${process.env['PATH']}`;
  const child = spawn(commands[name] ?? '', {
    cwd: root,
    env: { ...process.env, PATH },
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  const { promise, resolve } = Promise.withResolvers<Step>();
  child.once('close', (code) => {
    const seconds = (performance.now() - start) / 1000;
    process.stdout.write(`\n--- ${name}\n${output}`);
    resolve({ name, hasPassed: code === 0, seconds, output });
  });
  return promise;
}

/** Runs scripts, at most this many at once. @returns them in the order of the names. */
async function runAll(names: readonly string[], atOnce: number): Promise<Step[]> {
  const steps: Step[] = [];
  const queue = names.entries();
  const work = async () => {
    for (const [index, name] of queue) steps[index] = await run(name);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return steps;
}

const args = process.argv.slice(2);
const [, given] = /^--at-once=([1-9]\d?)$/.exec(args[0] ?? '') ?? [];
const names = given === undefined ? args : args.slice(1);
if (names.length === 0 || names.some((name) => name !== 'then' && !(name in commands))) {
  process.stderr.write(usage);
  process.exit(2);
}
const steps: Step[] = [];
for (const group of names.join(' ').split(' then ')) {
  steps.push(...(await runAll(group.split(' '), Number(given ?? availableParallelism()))));
}
const failed = steps.filter(({ hasPassed }) => !hasPassed);
const width = Math.max(...steps.map(({ name }) => name.length));
const lines = steps.map(
  ({ name, hasPassed, seconds }) =>
    `${name.padEnd(width)}  ${hasPassed ? 'passed' : 'FAILED'}  ${seconds.toFixed(1).padStart(6)} s`,
);
process.stdout.write(`\n${lines.join('\n')}\n`);
for (const { name, output } of failed) {
  const last = output.trimEnd().split('\n').slice(-100);
  process.stdout.write(`\n--- ${name} FAILED\n${last.join('\n')}\n`);
}
process.exitCode = failed.length === 0 ? 0 : 1;
