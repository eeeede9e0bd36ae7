import { spawn } from 'node:child_process';
import { vi } from 'vitest';
import { commandPath } from './process.ts';

/** Runs a command of the gateway in a terminal, which script(1) opens and which closes with it. */
export async function openTerminal(args: string, env: Readonly<Record<string, string>>) {
  const command = `exec ${process.execPath} ${await commandPath()} ${args}`;
  const { PATH } = process.env;
  const terminal = spawn('script', ['-qc', command, '/dev/null'], {
    env: { PATH, TERM: 'xterm', PORT: '0', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (chunk) => {
    shown += chunk;
  });
  const close = () => terminal.kill('SIGKILL');
  return {
    close,
    [Symbol.dispose]: close,
    /** Waits until it shows what matches the pattern, and returns the match. */
    async show(pattern: RegExp): Promise<RegExpExecArray> {
      const read = () => {
        const match = pattern.exec(shown);
        if (match === null) throw new Error(`Expected ${pattern}, received ${shown}`);
        return match;
      };
      return vi.waitFor(read);
    },
  };
}
