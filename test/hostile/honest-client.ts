import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setInterval } from 'node:timers/promises';

/** What the honest client saw. */
export interface Honesty {
  readonly asked: number;
  readonly answered: number;
  /** The time of the slowest answer, in milliseconds. */
  readonly slowestMs: number;
  /** What it got where an answer was expected, and how often. */
  readonly failures: ReadonlyMap<string, number>;
}

const intervalMs = 25;
const patienceMs = 5000;
const body = '{"query":"{ pets(limit: 5) { id name } }"}';

/**
 * Sends forty requests per second until the signal is aborted, whether or not the ones before were
 * answered: half of them over a kept connection, half over new ones.
 */
export async function beHonest(url: string, apiKey: string, signal: AbortSignal): Promise<Honesty> {
  const kept = new Agent({ keepAlive: true });
  const failures = new Map<string, number>();
  const pending: Promise<void>[] = [];
  let answered = 0;
  let slowestMs = 0;

  async function askOnce(agent: Agent | false) {
    const start = performance.now();
    const failure = await ask(url, apiKey, agent).catch((error: Error) => error.message);
    const milliseconds = performance.now() - start;
    if (failure === undefined) {
      answered++;
      slowestMs = Math.max(slowestMs, milliseconds);
    } else {
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
    }
  }

  try {
    for await (const _ of setInterval(intervalMs, undefined, { signal })) {
      pending.push(askOnce(pending.length % 2 === 0 ? kept : false));
    }
  } catch {
    // The end.
  }
  await Promise.all(pending);
  kept.destroy();
  return { asked: pending.length, answered, slowestMs, failures };
}

/** Undefined for the right answer, else what came in its place. */
async function ask(url: string, apiKey: string, agent: Agent | false): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const signal = AbortSignal.timeout(patienceMs);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const outgoing = request(`${url}/graphql`, { method: 'POST', headers, agent, signal });
  outgoing
    .once('error', reject)
    .once('response', async (response) => {
      try {
        const answer = (await json(response)) as Answer;
        resolve(answer.data?.pets ? undefined : `${response.statusCode} ${codeOf(answer)}`);
      } catch (error) {
        reject(error);
      }
    })
    .end(body);
  return promise;
}

interface Answer {
  readonly data?: { readonly pets?: unknown };
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

function codeOf({ errors }: Answer): string | undefined {
  return errors?.[0]?.extensions?.code;
}
