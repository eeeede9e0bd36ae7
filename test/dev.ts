import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tasks } from './tasks.ts';

const usage = `Usage: npm run dev [-- TASK [ARGUMENT...]]
Runs a task. Without one, starts the gateway, and restarts it when a file changes. The tasks:
${Object.entries(tasks)
  .map(([name, command]) => `  ${name.padEnd(18)}  ${command.slice(0, 80)}\n`)
  .join('')}`;

const [name, ...args] = process.argv.slice(2);
const command = name === undefined ? 'exec node --watch src/main.ts' : tasks[name];
if (command === undefined) {
  (name === '--help' ? process.stdout : process.stderr).write(usage);
  process.exitCode = name === '--help' ? 0 : 2;
} else {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const PATH = `${root}node_modules/.bin:${process.env['PATH']}`;
  // Arguments follow the last command, as npm passes them to a script.
  const { status } = spawnSync('sh', ['-c', `${command} "$@"`, 'sh', ...args], {
    cwd: root,
    env: { ...process.env, PATH },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
