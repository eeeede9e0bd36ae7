import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Whether a program is installed, which can print its version. */
export function isInstalled(command: string, flag = '--version'): boolean {
  return spawnSync(command, [flag]).status === 0;
}

/**
 * Starts a program. Resolves when it has printed what matches `ready`. `killSignal` ends it with the
 * tests. @throws with its output if it exits first.
 */
export async function startProgram(
  command: string,
  args: readonly string[],
  ready: RegExp,
  options: SpawnOptions = {},
) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill(options.killSignal ?? 'SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'close');
  const started = Promise.withResolvers<RegExpExecArray>();
  let output = '';
  const read = (chunk: string) => {
    output = (output + chunk).slice(-100_000);
    const match = ready.exec(output);
    if (match) started.resolve(match);
  };
  child.stdout?.setEncoding('utf8').on('data', read);
  child.stderr?.setEncoding('utf8').on('data', read);
  exited.then(() => started.reject(new Error(`${command} did not start: ${output}`)));
  const match = await started.promise;
  return {
    /** What `ready` has matched. */
    match,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Ends the program, which may have exited. */
    async stop(signal: NodeJS.Signals): Promise<void> {
      process.off('exit', kill);
      child.kill(signal);
      await exited;
    },
  };
}
