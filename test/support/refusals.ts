import type { Metrics } from '../../src/telemetry/metrics.ts';

/** The counts of requests refused due to load, by reason and status, without those that are 0. */
export async function refusalsIn(metrics: Metrics): Promise<Record<string, number>> {
  const { text } = await metrics.scrape();
  const counts: Record<string, number> = {};
  for (const [, reason, status, count] of text.matchAll(
    /^petstore_requests_refused_total\{reason="(\w+)",status="(\d+)"\} (\d+)$/gm,
  )) {
    if (count !== '0') counts[`${reason} ${status}`] = Number(count);
  }
  return counts;
}
