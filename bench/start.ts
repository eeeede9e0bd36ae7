import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Dispatcher, request } from 'undici';
import type { RestPet } from './pets.ts';
import { type ServerProcess, spawnServer } from './server-process.ts';
import type { Message, Operation } from './shapes.ts';
import type { Stack } from './stacks.ts';
import type { Upstream } from './upstream.ts';
import type { Workload } from './workloads.ts';

/** What servers find around them. */
export interface Surroundings {
  readonly upstream: Upstream;
  /** Where they may write. */
  readonly folder: string;
  /** The database of the built-in backend. */
  readonly databaseUrl: string;
  /** The key that it knows; the REST service takes any. */
  readonly apiKey: string;
  /** The cores that servers run on, as `taskset -c` takes them; one of its own by default. */
  readonly serverCores?: string;
}

/** A server that has answered each request of a workload rightly. */
export interface RunningServer extends AsyncDisposable {
  readonly process: ServerProcess;
  /** Where it is, without a path. */
  readonly url: string;
  readonly messages: readonly Message[];
  /** The texts of the right answers, in the order of the messages. */
  readonly answers: readonly string[];
  /** From its spawn to the end of its first answer. */
  readonly startMs: number;
}

const patienceMs = 30_000;

/** Starts a server for a workload. @throws when an answer is wrong, or late, with its last words. */
export async function startServer(
  stack: Stack,
  workload: Workload,
  { upstream, databaseUrl, apiKey, serverCores, ...surroundings }: Surroundings,
): Promise<RunningServer> {
  const { operations, needs, paths, shape } = workload;
  const sent = await Promise.all(
    operations.map(async ({ query, ...operation }) => ({
      message: await shape({ ...operation, query: stack.dialect?.(query) ?? query }),
      data: operation.data,
    })),
  );
  const folder = mkdtempSync(join(surroundings.folder, `${stack.name}-`));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const command = stack.command({
    port,
    upstream: needs === 'builtin' ? undefined : upstream.url,
    databaseUrl,
    paths,
    persisted: needs === 'persisted' ? operations.map(({ query }) => query) : undefined,
    folder,
  });
  const spawned = performance.now();
  const process = spawnServer(command, folder, serverCores);
  const close = async () => {
    await process[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    let startMs = 0;
    const answers: string[] = [];
    for (const { message, data } of sent) {
      const answer = await waitForAnswer(process, () => ask(url, message, apiKey));
      startMs ||= performance.now() - spawned;
      requireRight(answer, stack, message, data);
      answers.push(answer);
    }
    await requireForwarded(upstream, workload, apiKey);
    const messages = sent.map(({ message }) => message);
    return { process, url, messages, answers, startMs, [Symbol.asyncDispose]: close };
  } catch (error) {
    const words = process.lastWords();
    await close();
    throw new Error(`${stack.title}: ${(error as Error).message}\n${words}`, { cause: error });
  }
}

/** The first answer that comes while the server starts to listen. */
async function waitForAnswer(process: ServerProcess, ask: () => Promise<string>): Promise<string> {
  const end = performance.now() + patienceMs;
  for (;;) {
    if (process.hasEnded()) throw new Error('Expected a server, but the process ended.');
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(2);
    }
  }
}

async function ask(
  url: string,
  { method, path, headers, body }: Message,
  apiKey: string,
): Promise<string> {
  const response = await request(url + path, {
    method: method as Dispatcher.HttpMethod,
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    body: body === '' ? null : body,
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) {
    throw new Error(`Expected HTTP status 200, received ${response.statusCode}: ${text}`);
  }
  return text;
}

/** Ids may come as numbers or as their digits: the servers' schemas differ in that. */
function requireRight(
  answer: string,
  { isBare }: Stack,
  { path, body }: Message,
  data: Operation['data'],
): void {
  const bodies = Object.values(data);
  const asksForTypes = (path + body).includes('__typename');
  const right = isBare
    ? bodies.length === 1
      ? bodies[0]
      : bodies
    : { data: asksForTypes ? withTypes(data) : data };
  const read = (text: string) =>
    JSON.parse(text, (key, value) => (/^(?:id|categoryId)$/.test(key) ? String(value) : value));
  const expected = read(JSON.stringify(right));
  const received = read(answer);
  if (isDeepStrictEqual(received, expected)) return;
  const texts = [JSON.stringify(expected), JSON.stringify(received)] as const;
  const at = [...texts[0]].findIndex((character, index) => character !== texts[1][index]);
  const [before, after] = texts.map((text) => text.slice(Math.max(0, at - 50), at + 200));
  throw new Error(`Expected at ${at}: ${before}; received: ${after}`);
}

/** The data with the type of each pet. */
function withTypes(data: Operation['data']): Operation['data'] {
  const entries = Object.entries(data).map(([field, pets]) => [
    field,
    (pets as readonly RestPet[]).map((pet) => ({ __typename: 'Pet', ...pet })),
  ]);
  return Object.fromEntries(entries);
}

async function requireForwarded(upstream: Upstream, { needs }: Workload, apiKey: string) {
  if (needs === 'builtin') return;
  const { authorization } = await upstream.seen();
  if (authorization !== `Bearer ${apiKey}`) {
    throw new Error("Expected the caller's key at the REST service, found another.");
  }
}

/** A port that nothing listens on. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
