import { type SeenRequest, sendJson, startUpstream } from '../support/upstream.ts';

/** The keys that the service accepts. */
export const keys = { honest: 'demo-key', hostile: 'faults-secret-key' } as const;

const page = (length: number, name: string) =>
  JSON.stringify(Array.from({ length }, (_, id) => ({ id, name, categoryId: 1 })));
const honestPage = page(5, 'Rex');
/** Nearly the maximum of 4 MiB for a REST response. */
const largePage = page(90, 'x'.repeat(40_000));
/** 3.5 MB, with ids beyond 2^53. */
const largeOrders = `[${Array.from({ length: 50_000 }, (_, id) => `{"id":${2n ** 53n + BigInt(id)},"total":12.5,"note":"an order like any other"}`).join()}]`;

/**
 * Starts a REST service. It responds immediately to the honest key. For the hostile key, a page of
 * pets depends on its limit: 1 hangs, 90 to 99 have long names, and others are small.
 */
export function startRestService() {
  return startUpstream((request, response) => {
    const reply = replyTo(request);
    if (reply !== undefined) sendJson(response, ...reply);
  });
}

function replyTo({
  method,
  url,
  headers,
}: SeenRequest): [status: number, text: string] | undefined {
  const { authorization } = headers;
  if (authorization === `Bearer ${keys.honest}`) return [200, honestPage];
  if (authorization !== `Bearer ${keys.hostile}`) return [401, refusal(401)];
  if (method === 'POST') return [400, refusal(400)];
  if (url.endsWith('/orders')) return [200, largeOrders];
  if (/limit=1(?:&|$)/.test(url)) return undefined;
  return [200, /limit=9\d/.test(url) ? largePage : honestPage];
}

function refusal(status: number): string {
  return JSON.stringify({ code: 'refused', message: 'No.', status });
}
