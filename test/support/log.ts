import { createLog, type Log } from '../../src/telemetry/log.ts';

/** A log at its most talkative, and the lines that went into it. */
export function openLog(): { log: Log; logged: string[] } {
  const logged: string[] = [];
  return { log: createLog('debug', { write: (line) => logged.push(line) }), logged };
}

/** A log whose lines nobody reads. */
export const { log: quiet } = openLog();
