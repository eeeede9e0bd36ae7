import type { Metrics } from '../telemetry/metrics.ts';
import { problem } from './answers.ts';
import type { Gateway } from './gateway.ts';
import type { Health } from './health.ts';

/** Answers the operator's own port: `/metrics`, `/livez` and `/readyz`. */
export function createAdmin(metrics: Pick<Metrics, 'scrape'>, health: Health): Gateway {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const answer = health(request, pathname);
    if (answer !== undefined) return answer;
    if (pathname !== '/metrics') return problem(404, 'There is nothing at this address.');
    if (request.method !== 'GET') return problem(405, `Expected GET, received ${request.method}.`);
    const { contentType, text } = await metrics.scrape();
    return new Response(text, { headers: { 'content-type': contentType } });
  };
}
