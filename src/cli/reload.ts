import { isatty } from 'node:tty';
import { type Config, loadConfig } from '../config/config.ts';
import { type Environment, needRestart, readFiles } from '../config/environment.ts';
import type { createLog } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Returns a function that reads the configuration again, or changes nothing if it is invalid. */
export function createReload(
  env: Environment,
  starting: Promise<{ reload(config: Config): Promise<void> }>,
  log: ReturnType<typeof createLog>,
  metrics: Metrics,
): () => Promise<void> {
  let isSuccessful = true;
  metrics.reloadSuccess({}, () => Number(isSuccessful));
  return async () => {
    try {
      const service = await starting;
      const config = loadConfig(env);
      await service.reload(config);
      log.level = config.logLevel;
      isSuccessful = true;
    } catch (error) {
      isSuccessful = false;
      throw error;
    }
  };
}

/** Reloads on each SIGHUP, one after the other, and logs it. Stops if the terminal was closed. */
export function reloadOnHangup(
  env: Environment,
  log: ReturnType<typeof createLog>,
  reload: () => Promise<void>,
  stop: () => void,
): void {
  const started = readFiles(env, []);
  const hasTerminal = isatty(0);
  let reloaded = Promise.resolve();
  const reloadAndLog = async () => {
    try {
      await reload();
      const pending = needRestart(started, readFiles(env, []));
      if (pending.length === 0) log.info({}, 'configuration reloaded');
      else log.warn({ needRestart: pending }, 'configuration reloaded');
    } catch (err) {
      log.error({ err }, 'configuration not reloaded: it stays as it was');
    }
  };
  process.on('SIGHUP', () => {
    if (hasTerminal && !isatty(0)) stop();
    else reloaded = reloaded.then(reloadAndLog);
  });
}
