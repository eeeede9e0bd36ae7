import { appendFileSync } from 'node:fs';
import { createLog, type Log } from '../../src/telemetry/log.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { openTracing } from '../../src/telemetry/tracing.ts';

/** Keeps what was logged for the scan at the end of the run (`no-keys-logged.ts`). */
export function keepForScan(text: string): void {
  const folder = process.env['TEST_LOGS'];
  if (folder !== undefined) appendFileSync(`${folder}/${process.pid}.log`, text);
}

/** A log at its most talkative: every line that went into it, and those that tell of trouble. */
function openLog(): { log: Log; lines: string[]; logged: string[] } {
  const lines: string[] = [];
  const logged: string[] = [];
  const write = (line: string) => {
    lines.push(line);
    if (/^\{"level":"(?:warn|error)"/.test(line)) logged.push(line);
    keepForScan(line);
  };
  return { log: createLog('trace', { write }), lines, logged };
}

/** Telemetry of its own for a test, and what was logged. */
export function openTelemetry() {
  return { ...openLog(), metrics: new Metrics(), tracing: passThrough };
}

const passThrough = await openTracing(undefined, openLog().log);

/** Telemetry that nobody looks at but the scan. */
export const quiet = openTelemetry();
