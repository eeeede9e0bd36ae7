import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { createReportError, Refusal } from '../../src/http/refusal.ts';
import { openTelemetry } from '../support/log.ts';
import { refusalsIn } from '../support/metrics.ts';

describe('refusals due to load', () => {
  it('are logged: the first immediately, and later ones as counts per reason and status', async () => {
    const telemetry = openTelemetry();
    const lines = () => telemetry.logged.map((line) => JSON.parse(line));
    const reportError = createReportError(telemetry, 50);
    const line = (reasons: object) =>
      expect.objectContaining({ reasons, msg: 'requests were refused due to load' });
    const first = line({ 'requests_of_key 429': 1 });
    for (let count = 0; count < 3; count++) reportError(new Refusal('requests_of_key'), 'id');
    for (let count = 0; count < 2; count++) reportError(new Refusal('event_loop_lag'), 'id');
    expect(lines()).toEqual([first]);
    const counts = { 'requests_of_key 429': 2, 'event_loop_lag 503': 2 };
    await vi.waitFor(() => expect(lines()).toEqual([first, line(counts)]));
    expect(await refusalsIn(telemetry.metrics)).toEqual({ ...counts, 'requests_of_key 429': 3 });
  });

  it('have a documented status for each reason, and a series that starts at 0', async () => {
    const page = await readFile(new URL('../../docs/observability.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| .+ \|$/gm)];
    const { metrics, log } = openTelemetry();
    createReportError({ metrics, log });
    const { text } = await metrics.scrape();
    expect(text.match(/^petstore_requests_refused_total\{.*$/gm)).toEqual(
      documented.map(
        ([, reason, status]) =>
          `petstore_requests_refused_total{reason="${reason}",status="${status}"} 0`,
      ),
    );
  });
});
