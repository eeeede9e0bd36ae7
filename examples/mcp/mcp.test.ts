import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const pathOf = (specifier: string) => fileURLToPath(import.meta.resolve(specifier));
const main = pathOf('./main.ts');
const gatewayCommand = pathOf('petstore-gateway').replace('index.js', 'bin/main.js');
const demoKey = 'demo-key';
const callersKey = 'a-callers-key';

/** Everything that the gateways and the servers over HTTP print. */
let printed = '';

/** Starts a server on a free port. @returns the URL that it prints. */
async function start(file: string, env: Record<string, string>) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [file], { env: { PATH, PORT: '0', ...env } });
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk;
      const [found] = /http:\S+\/(?:graphql|mcp)/.exec(String(chunk)) ?? [];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`${file} ended: ${printed}`)));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Starts a REST service that fails in many ways, and repeats the key in its errors. */
async function startFailing() {
  const keys: string[] = [];
  const [held, cancelled] = [new EventTarget(), new EventTarget()];
  const server = createServer(async (incoming, response) => {
    const { method, url = '', headers } = incoming;
    keys.push(headers.authorization ?? '');
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end(JSON.stringify(value));
    };
    const fail = (status: number) => send(status, { code: 'failed', message: keys.at(-1), status });
    if (url.includes('orders')) fail(403);
    else if (url.includes('sold')) {
      response.once('close', () => cancelled.dispatchEvent(new Event('request')));
      held.dispatchEvent(new Event('request'));
    } else if (method === 'GET') send(200, []);
    else if (body.includes('busy')) fail(429);
    else if (body.includes('broken')) fail(500);
    else send(201, { id: 'not a number' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    keys,
    /** Requests for sold pets, which are never answered, and their ends. */
    held,
    cancelled,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Mode = 'legacy' | 'auto';
type Connect = (mode: Mode, url: string, key?: string) => Promise<Client & AsyncDisposable>;

/** Starts a server as an application does, with the key in its environment. */
const overStdio: Connect = async (mode, url, key) => {
  const env = { PETSTORE_GATEWAY_URL: url, ...(key && { PETSTORE_API_KEY: key }) };
  const client = createClient(mode);
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [main], env }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
};

/** Connects to a server whose environment has a key that it must not use. */
const overHttp: Connect = async (mode, url, key) => {
  const server = await start(main, { PETSTORE_GATEWAY_URL: url, PETSTORE_API_KEY: demoKey });
  const requestInit = { headers: { ...(key && { authorization: `Bearer ${key}` }) } };
  const client = createClient(mode);
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  });
};

function createClient(mode: Mode): Client {
  return new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
}

/** Calls a tool, whose result must not contain the key. */
async function callTool(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
  const texts = content.map((block) => (block.type === 'text' ? block.text : ''));
  assert.ok(!JSON.stringify([content, structuredContent]).includes(callersKey));
  return { text: texts.join('\n'), structured: structuredContent, isError };
}

const stack = new AsyncDisposableStack();
let gateway: string;
let failing: Awaited<ReturnType<typeof startFailing>>;
let failingGateway: string;
before(async () => {
  const settings = { DATABASE_URL: ':memory:', LOG_LEVEL: 'debug' };
  gateway = stack.use(await start(gatewayCommand, settings)).url;
  failing = stack.use(await startFailing());
  const env = {
    ...settings,
    PETSTORE_BASE_URL: failing.url,
    MESSAGES_BASE_URL: failing.url,
    // Longer than the test of cancellation waits.
    UPSTREAM_TIMEOUT_MS: '300000',
    PERSISTED_DOCUMENTS: 'only',
    PERSISTED_DOCUMENTS_FILE: pathOf('petstore-gateway/persisted-documents.json'),
  };
  failingGateway = stack.use(await start(gatewayCommand, env)).url;
});
after(async () => {
  await stack.disposeAsync();
  assert.ok(!printed.includes(callersKey), printed);
});

const transports = { stdio: overStdio, HTTP: overHttp };
const modes = { '2025': 'legacy', '2026': 'auto' } as const;
for (const [transport, connect] of Object.entries(transports)) {
  for (const [year, mode] of Object.entries(modes)) {
    describe(`over ${transport}, with the protocol of ${year}`, () => {
      const clients = new AsyncDisposableStack();
      let client: Client;
      let failingClient: Client;
      before(async () => {
        client = clients.use(await connect(mode, gateway, demoKey));
        failingClient = clients.use(await connect(mode, failingGateway, callersKey));
      });
      after(() => clients.disposeAsync());

      test('describes each document as a tool', async () => {
        assert.equal(client.getNegotiatedProtocolVersion()?.slice(0, 4), year);
        const { tools } = await client.listTools();
        const { AddPet, GetPet, ListPets, ...others } = Object.fromEntries(
          tools.map((tool) => [tool.name, tool]),
        );
        assert.deepEqual(Object.keys(others).sort(), [
          'DeferredStorefront',
          'ListOrders',
          'SendMessage',
          'Storefront',
        ]);
        assert.match(ListPets?.description ?? '', /The pets in the store/);
        assert.match(GetPet?.description ?? '', /Deprecated: .* 2030-12-05/);
        assert.deepEqual(ListPets?.inputSchema.properties, {
          limit: {
            type: 'integer',
            description:
              'The maximum number of pets, from 1 to 100; 20 if omitted or null. The default of this tool is 5.',
            default: 5,
          },
          status: {
            enum: ['available', 'pending', 'sold'],
            description: 'Return only pets with this status.',
          },
        });
        assert.deepEqual(ListPets?.annotations, { readOnlyHint: true });
        assert.deepEqual(AddPet?.inputSchema.required, ['input']);
        const write = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
        assert.deepEqual(AddPet?.annotations, write);
      });

      test('returns data with all digits', async () => {
        const input = { name: 'Rex', categoryId: '9223372036854775807' };
        const added = await callTool(client, 'AddPet', { input });
        assert.equal(added.isError, false);
        assert.partialDeepStrictEqual(added.structured, { data: { addPet: input } });
        assert.deepEqual(JSON.parse(added.text), added.structured);
        const { structured } = await callTool(client, 'ListOrders');
        const orders = [{ id: '9007199254740993' }];
        assert.partialDeepStrictEqual(structured, { data: { orders } });
      });

      test('refuses an id that is not a string', async () => {
        const input = { name: 'Rex', categoryId: 7 };
        const { isError, text } = await callTool(client, 'AddPet', { input });
        assert.equal(isError, true);
        assert.match(text, /categoryId must be string/);
      });

      test('says what to do about an error', async () => {
        const unknown = await callTool(client, 'GetPet', { id: '404404' });
        assert.equal(unknown.isError, true);
        assert.match(unknown.text, /^NOT_FOUND pet: .*404404.*\nCheck the identifier\./);
        const errors = [{ path: ['pet'], extensions: { code: 'NOT_FOUND', status: 404 } }];
        assert.partialDeepStrictEqual(unknown.structured, { errors });
        const tooMany = await callTool(client, 'ListPets', { limit: 101 });
        assert.match(tooMany.text, /^BAD_USER_INPUT pets: limit: .*\nCorrect the arguments/);
      });

      test('returns the fields that succeeded beside an error', async () => {
        const { isError, structured, text } = await callTool(failingClient, 'Storefront');
        assert.equal(isError, false);
        assert.partialDeepStrictEqual(structured, { data: { available: [], orders: null } });
        assert.match(text, /^FORBIDDEN orders: .*\nThe API key does not allow this/);
      });

      test('says what became of a write', async () => {
        const add = async (name: string) => {
          const input = { name, categoryId: '1' };
          const { isError, text } = await callTool(failingClient, 'AddPet', { input });
          assert.equal(isError, true);
          return text;
        };
        assert.match(await add('busy'), /\nNothing was written\. Wait \d+ ms, then call/);
        assert.match(await add('broken'), /\nThe write may have been done\. Check that/);
        assert.match(await add('odd'), /\nThe write was done\. Do not call the tool again/);
      });

      test('makes calls with the key of the caller only', async () => {
        failing.keys.length = 0;
        await callTool(failingClient, 'ListPets');
        assert.deepEqual(failing.keys, [`Bearer ${callersKey}`]);
        await using anonymous = await connect(mode, failingGateway);
        const { text } = await callTool(anonymous, 'ListPets');
        assert.match(text, /^UNAUTHENTICATED pets: .*\nAsk the user to configure/);
        assert.equal(failing.keys.length, 1);
      });

      // Over HTTP, a cancellation in the protocol of 2025 is a request of its own.
      const skip = transport === 'HTTP' && mode === 'legacy';
      test('cancels the calls of a cancelled tool', { skip, timeout: 60_000 }, async () => {
        const [held, cancelled] = [
          once(failing.held, 'request'),
          once(failing.cancelled, 'request'),
        ];
        const controller = new AbortController();
        const { signal } = controller;
        const input = { status: 'sold' };
        const called = failingClient.callTool({ name: 'ListPets', arguments: input }, { signal });
        await held;
        controller.abort();
        await assert.rejects(called);
        await cancelled;
      });

      test('does not show why the gateway cannot be reached', async () => {
        const closed = await startFailing();
        await closed[Symbol.asyncDispose]();
        await using lost = await connect(mode, closed.url, callersKey);
        const read = await callTool(lost, 'ListPets');
        assert.match(read.text, /^UPSTREAM_UNAVAILABLE: The gateway did not respond\.\nCall the/);
        const written = await callTool(lost, 'SendMessage', { message: 'hello' });
        assert.match(written.text, /\nThe write may have been done/);
      });
    });
  }
}

test('does not show a malformed key', async () => {
  await using client = await overStdio('auto', gateway, `${callersKey}\nwith a line break`);
  const { isError } = await callTool(client, 'ListPets');
  assert.equal(isError, true);
});

test('refuses pages of other sites over HTTP', async () => {
  await using server = await start(main, { PETSTORE_GATEWAY_URL: gateway });
  for (const headers of [{ host: 'other.example' }, { origin: 'http://other.example' }]) {
    const outgoing = request(server.url, { method: 'POST', headers }).end();
    const [response] = await once(outgoing, 'response');
    assert.equal(response.statusCode, 403);
    response.resume();
  }
});
