import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Dispatcher, request } from 'undici';
import type { Target } from './load.ts';
import type { RestPet } from './pets.ts';
import { type ServerProcess, spawnServer } from './server-process.ts';
import type { Message } from './shapes.ts';
import type { Stack } from './stacks.ts';
import type { Upstream } from './upstream.ts';
import type { Workload } from './workloads.ts';

/** The REST service and the folder that all servers of a run share. */
export interface Fixtures {
  readonly upstream: Upstream;
  /** The folder for temporary files. */
  readonly folder: string;
  /** The cores that servers run on, in the syntax of `taskset -c`. By default a single core. */
  readonly serverCores?: string;
}

/** A server that has responded correctly to the request of each workload. */
export interface RunningServer extends AsyncDisposable {
  readonly process: ServerProcess;
  readonly targets: ReadonlyMap<Workload, Target>;
}

const startTimeoutMs = 30_000;

/** Starts a server for these workloads. @throws on a wrong or late response, with the output. */
export async function startServer(
  stack: Stack,
  workloads: readonly Workload[],
  { upstream, serverCores, ...fixtures }: Fixtures,
): Promise<RunningServer> {
  const folder = mkdtempSync(join(fixtures.folder, `${stack.name}-`));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const command = stack.command({ port, upstream: upstream.url, folder });
  const process = spawnServer(command, folder, serverCores);
  const close = async () => {
    await process[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const targets = new Map<Workload, Target>();
    for (const workload of workloads) {
      const message = await encode(workload, stack);
      const apiKey = `${stack.name}-${workload.name}`;
      const expectedBody = await waitForResponse(process, () => send(url, message, apiKey));
      requireCorrect(expectedBody, stack, message, workload.data);
      await requireForwarded(upstream, apiKey);
      targets.set(workload, { url, message, expectedBody });
    }
    return { process, targets, [Symbol.asyncDispose]: close };
  } catch (error) {
    const output = process.lastOutput();
    await close();
    throw new Error(`${stack.title}: ${(error as Error).message}\n${output}`, { cause: error });
  }
}

async function encode(workload: Workload, stack: Stack): Promise<Message> {
  const { name, query, variables, shape } = workload;
  const message = await shape({ query: stack.dialect?.(query) ?? query, variables });
  return stack.isPassThrough ? { ...message, path: `/${name}` } : message;
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
  data: Workload['data'],
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
function withTypes(data: Workload['data']): Workload['data'] {
  const entries = Object.entries(data).map(([field, pets]) => [
    field,
    (pets as readonly RestPet[]).map((pet) => ({ __typename: 'Pet', ...pet })),
  ]);
  return Object.fromEntries(entries);
}

async function requireForwarded(upstream: Upstream, apiKey: string): Promise<void> {
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
