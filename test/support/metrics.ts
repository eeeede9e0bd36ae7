import type { Metrics } from '../../src/telemetry/metrics.ts';

/** Returns the values of a metric by these labels, such as `listPets 200`, without those that are 0. */
export async function valuesOf(
  metrics: Metrics,
  name: string,
  ...labels: readonly string[]
): Promise<Record<string, number>> {
  const { text } = await metrics.scrape();
  const values: Record<string, number> = {};
  for (const [, series = '', value] of text.matchAll(
    new RegExp(`^${name}(?:\\{(.*?)\\})? (\\S+)`, 'gm'),
  )) {
    const found = labels.map((label) => new RegExp(`\\b${label}="([^"]*)"`).exec(series)?.[1]);
    const key = found.join(' ');
    if (value !== '0') values[key] = (values[key] ?? 0) + Number(value);
  }
  return values;
}

/** The uses of deprecated fields, by field, operation and client. */
export const deprecatedUsesIn = (metrics: Metrics) =>
  valuesOf(metrics, 'petstore_graphql_deprecated_field_uses_total', 'field', 'operation', 'client');

/** The counts of requests refused due to load, by reason and status. */
export const refusalsIn = (metrics: Metrics) =>
  valuesOf(metrics, 'petstore_requests_refused_total', 'reason', 'status');
