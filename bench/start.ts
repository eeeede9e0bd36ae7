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
import { needsDatabase, type Workload } from './workloads.ts';

/** The REST service, database and folder that all servers of a run share. */
export interface Fixtures {
  readonly upstream: Upstream;
  /** The folder for temporary files. */
  readonly folder: string;
  /** The database of the built-in backend. */
  readonly databaseUrl: string;
  /** The API key of the built-in backend. The REST service accepts any key. */
  readonly apiKey: string;
  /** The cores that servers run on, in the syntax of `taskset -c`. By default a single core. */
  readonly serverCores?: string;
}

/** A server that has responded correctly to each request of a workload. */
export interface RunningServer extends AsyncDisposable {
  readonly process: ServerProcess;
  /** Its origin, without a path. */
  readonly url: string;
  readonly messages: readonly Message[];
  /** The correct response bodies, in the order of the messages. */
  readonly expectedBodies: readonly string[];
  /** The time from the spawn to the end of the first response. */
  readonly startMs: number;
}

const startTimeoutMs = 30_000;

/** Starts a server for a workload. @throws on a wrong or late response, with the output. */
export async function startServer(
  stack: Stack,
  workload: Workload,
  { upstream, databaseUrl, apiKey, serverCores, ...fixtures }: Fixtures,
): Promise<RunningServer> {
  const { operations, needs, paths, shape } = workload;
  const sent = await Promise.all(
    operations.map(async ({ query, ...operation }) => ({
      message: await shape({ ...operation, query: stack.dialect?.(query) ?? query }),
      data: operation.data,
    })),
  );
  const folder = mkdtempSync(join(fixtures.folder, `${stack.name}-`));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const command = stack.command({
    port,
    upstream: needsDatabase(workload) ? undefined : upstream.url,
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
    const expectedBodies: string[] = [];
    for (const { message, data } of sent) {
      const body = await waitForResponse(process, () => send(url, message, apiKey));
      startMs ||= performance.now() - spawned;
      requireCorrect(body, stack, message, data);
      expectedBodies.push(body);
    }
    await requireForwarded(upstream, workload, apiKey);
    const messages = sent.map(({ message }) => message);
    return { process, url, messages, expectedBodies, startMs, [Symbol.asyncDispose]: close };
  } catch (error) {
    const output = process.lastOutput();
    await close();
    throw new Error(`${stack.title}: ${(error as Error).message}\n${output}`, { cause: error });
  }
}

/** Sends the request until the server is listening. @returns the first response body. */
async function waitForResponse(
  process: ServerProcess,
  sendRequest: () => Promise<string>,
): Promise<string> {
  const end = performance.now() + startTimeoutMs;
  for (;;) {
    if (process.hasExited()) throw new Error('Expected a server, but the process exited.');
    try {
      return await sendRequest();
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(2);
    }
  }
}

async function send(
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

/** Ids can be numbers or strings, as the schemas differ. @throws when the body is wrong. */
function requireCorrect(
  receivedBody: string,
  { isPassThrough }: Stack,
  { path, body }: Message,
  data: Operation['data'],
): void {
  const bodies = Object.values(data);
  const selectsTypes = (path + body).includes('__typename');
  const correct = isPassThrough
    ? bodies.length === 1
      ? bodies[0]
      : bodies
    : { data: selectsTypes ? withTypes(data) : data };
  const read = (text: string) =>
    JSON.parse(text, (key, value) => (/^(?:id|categoryId)$/.test(key) ? String(value) : value));
  const expected = read(JSON.stringify(correct));
  const received = read(receivedBody);
  if (isDeepStrictEqual(received, expected)) return;
  const texts = [JSON.stringify(expected), JSON.stringify(received)] as const;
  const at = [...texts[0]].findIndex((character, index) => character !== texts[1][index]);
  const [before, after] = texts.map((text) => text.slice(Math.max(0, at - 50), at + 200));
  throw new Error(`Expected at character ${at}: ${before}; received: ${after}`);
}

/** Adds `__typename` to each pet. */
function withTypes(data: Operation['data']): Operation['data'] {
  const entries = Object.entries(data).map(([field, pets]) => [
    field,
    (pets as readonly RestPet[]).map((pet) => ({ __typename: 'Pet', ...pet })),
  ]);
  return Object.fromEntries(entries);
}

async function requireForwarded(upstream: Upstream, workload: Workload, apiKey: string) {
  if (needsDatabase(workload)) return;
  const { authorization } = await upstream.stats();
  if (authorization !== `Bearer ${apiKey}`) {
    throw new Error(
      "Expected the REST service to receive the caller's API key, but it received another.",
    );
  }
}

/** Returns a port that nothing listens on. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
