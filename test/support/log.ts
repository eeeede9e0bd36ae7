import { appendFileSync } from 'node:fs';
import { createLog, type Log } from '../../src/telemetry/log.ts';

/** Keeps what was logged for the scan at the end of the run (`no-keys-logged.ts`). */
export function keepForScan(text: string): void {
  const folder = process.env['TEST_LOGS'];
  if (folder !== undefined) appendFileSync(`${folder}/${process.pid}.log`, text);
}

/** A log at its most talkative, and the lines that went into it. */
export function openLog(): { log: Log; logged: string[] } {
  const logged: string[] = [];
  const write = (line: string) => {
    logged.push(line);
    keepForScan(line);
  };
  return { log: createLog('trace', { write }), logged };
}

/** A log whose lines nobody reads but the scan. */
export const { log: quiet } = openLog();
