import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setInterval } from 'node:timers/promises';

/** The measurements of the honest client. */
export interface HonestResult {
  readonly sent: number;
  readonly succeeded: number;
  /** The median and the longest time to a response, in milliseconds. */
  readonly medianMs: number;
  readonly slowestMs: number;
  /** The number of failed requests by failure. */
  readonly failures: ReadonlyMap<string, number>;
}

const intervalMs = 25;
const timeoutMs = 20_000;
const body = '{"query":"{ pets(limit: 5) { id name } }"}';

/**
 * Sends forty requests per second until the signal is aborted, without waiting for responses: half
 * of them over persistent connections, half over new ones.
 */
export async function runHonestClient(
  url: string,
  apiKey: string,
  signal: AbortSignal,
): Promise<HonestResult> {
  const persistent = new Agent({ keepAlive: true });
  const failures = new Map<string, number>();
  const pending: Promise<void>[] = [];
  const durations: number[] = [];

  async function sendOnce(agent: Agent | false) {
    const start = performance.now();
    const failure = await send(url, apiKey, agent).catch((error: Error) => error.message);
    const milliseconds = performance.now() - start;
    if (failure === undefined) {
      durations.push(milliseconds);
    } else {
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
    }
  }

  try {
    for await (const _ of setInterval(intervalMs, undefined, { signal })) {
      pending.push(sendOnce(pending.length % 2 === 0 ? persistent : false));
    }
  } catch {
    // The signal was aborted.
  }
  await Promise.all(pending);
  persistent.destroy();
  durations.sort((a, b) => a - b);
  const { length: succeeded } = durations;
  const medianMs = durations[succeeded >> 1] ?? 0;
  return { sent: pending.length, succeeded, medianMs, slowestMs: durations.at(-1) ?? 0, failures };
}

/** Sends a request. @returns undefined on success, otherwise the status and error code. */
async function send(
  url: string,
  apiKey: string,
  agent: Agent | false,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const outgoing = request(`${url}/graphql`, { method: 'POST', headers, agent, signal });
  outgoing
    .once('error', reject)
    .once('response', async (response) => {
      try {
        const result = (await json(response)) as Result;
        resolve(result.data?.pets ? undefined : `${response.statusCode} ${codeOf(result)}`);
      } catch (error) {
        reject(error);
      }
    })
    .end(body);
  return promise;
}

interface Result {
  readonly data?: { readonly pets?: unknown };
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

function codeOf({ errors }: Result): string | undefined {
  return errors?.[0]?.extensions?.code;
}
