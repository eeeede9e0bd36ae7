import { appendFileSync } from 'node:fs';
import { createLog } from '../../src/telemetry/log.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { openTracing } from '../../src/telemetry/tracing.ts';

/** Records log output for the scan at the end of the test run (`no-keys-logged.ts`). */
export function keepForScan(text: string): void {
  const folder = process.env['TEST_LOGS'];
  if (folder !== undefined) appendFileSync(`${folder}/${process.pid}.log`, text);
}

/** A log at level `trace`, with all its lines, and the lines at level `warn` or `error` in `logged`. */
function openLog() {
  const lines: string[] = [];
  const logged: string[] = [];
  const write = (line: string) => {
    lines.push(line);
    if (/^\{"level":"(?:warn|error)"/.test(line)) logged.push(line);
    keepForScan(line);
  };
  return {
    log: createLog('trace', { write }),
    lines,
    logged,
    /** Returns the parsed lines of requests. */
    requests: () =>
      lines.filter((line) => line.includes('"msg":"request"')).map((line) => JSON.parse(line)),
  };
}

/** Opens separate telemetry for a test, and records the log lines. */
export function openTelemetry() {
  return { ...openLog(), metrics: new Metrics(), tracing: passThrough };
}

const passThrough = await openTracing(undefined, openLog().log);

/** Telemetry for tests that do not inspect it. Its log lines are still scanned for API keys. */
export const quiet = openTelemetry();
