import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { formatReport } from '../../src/cli/check-service.ts';
import { checksOf, type RunOptions, runChecks } from '../../src/conformance/run.ts';
import { UnauthenticatedError } from '../../src/contract/error.ts';
import { contract } from '../../src/petstore/operations.ts';
import { encodeResponse, startFaultServer } from '../support/fault-server.ts';
import { apiKey, callWith, openGateway } from '../support/gateway.ts';
import { startIdempotentService } from '../support/idempotent-service.ts';
import { openRest } from '../support/rest-gateway.ts';
import { startServer } from '../support/server.ts';
import { type BrokenService, brokenServices, unusualServices } from './broken-services.ts';

/** The options of a check without writes of the service at a URL. */
const optionsOf = (url: string) => {
  const baseUrls = { pets: new URL(url) };
  return { baseUrls, apiKey, write: false, timeoutMs: 5000 };
};

const { writing, doneOnce } = checksOf(contract);
const checkContract = (options: RunOptions) => runChecks(contract, options);

/** Serves the built-in REST interface, with responses that a test can change. */
async function start(change: BrokenService['respond'] = (_, forward) => forward()) {
  const opened = await openGateway();
  const listener = getRequestListener(
    async (request) => {
      const url = new URL(request.url);
      const received = {
        operation: `${request.method} ${url.pathname.replace(/^\/(v1|quickstart)/, '')}`,
        query: url.searchParams,
        authorization: request.headers.get('authorization'),
        idempotencyKey: request.headers.get('idempotency-key'),
        body: await request.text(),
      };
      return change(received, (changed) => {
        const { query, authorization, idempotencyKey, body } = { ...received, ...changed };
        const headers = new Headers(request.headers);
        headers.delete('content-length');
        if (authorization !== null) headers.set('authorization', authorization);
        if (idempotencyKey === null) headers.delete('idempotency-key');
        else headers.set('idempotency-key', idempotencyKey);
        const search = query.size === 0 ? '' : `?${query}`;
        return opened.gateway(
          new Request(url.origin + url.pathname + search, {
            method: request.method,
            headers,
            ...(body === '' ? {} : { body: Buffer.from(body) }),
          }),
        );
      });
    },
    { overrideGlobalObjects: false },
  );
  const server = await startServer(createServer(listener));
  return {
    options: {
      apiKey,
      timeoutMs: 5000,
      baseUrls: {
        pets: new URL(`${server.url}/v1`),
        messages: new URL(`${server.url}/quickstart`),
      },
      write: true,
    },
    petStore: opened.petStore,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

const failed = (checks: Awaited<ReturnType<typeof checkContract>>) =>
  Object.fromEntries(
    checks.filter(({ verdict }) => verdict === 'fail').map(({ id, seen }) => [id, seen]),
  );

/** The ids of the checks that some broken service fails. */
const ofBrokenServices = new Set(
  Object.values(brokenServices).flatMap(({ failures }) => Object.keys(failures)),
);

describe('checkContract', () => {
  it('passes the built-in REST interface', async () => {
    await using service = await start();
    const baseUrl = String(service.options.baseUrls.pets);
    const output = formatReport(baseUrl, await checkContract(service.options), false);
    const lines = output.replaceAll(/ {2,}/g, '  ').split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        baseUrl,
        'RESULT  RULE  SEEN',
        'pass  POST /messages with a wrong key: 401  401, code "invalid_api_key"',
        expect.stringMatching(/^\d+ passed, 0 failed, 5 not specified, 0 skipped$/),
      ]),
    );
  });

  it('sends only GET requests without --write', async () => {
    const operations: string[] = [];
    await using service = await start(({ operation }, forward) => {
      operations.push(operation);
      return forward();
    });
    const checks = await checkContract({ ...service.options, write: false });
    expect(operations.filter((operation) => !operation.startsWith('GET '))).toEqual([]);
    const skipped = checks.filter(({ seen }) => seen === 'requires --write').map(({ id }) => id);
    expect(skipped).toEqual(writing.map(({ id }) => id));
    expect(failed(checks)).toEqual({});
  });

  it.each(Object.entries(brokenServices))('fails a service that %s', async (_, broken) => {
    await using service = await start(broken.respond);
    const failures = Object.entries(failed(await checkContract(service.options)));
    // Those of further operations follow from their declarations.
    const known = failures.filter(([id]) => ofBrokenServices.has(id));
    expect(Object.fromEntries(known)).toEqual(broken.failures);
  });

  it('has a failing service for every rule', async () => {
    await using service = await start();
    const checks = await checkContract(service.options);
    const rules = checks.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
    // Rules of further operations fail at least for one that responds to each request with an empty object.
    let requests = 0;
    await using empty = await start(async (_, forward) =>
      requests++ === 0 ? forward() : Response.json({}),
    );
    const failures = failed(await checkContract(empty.options));
    expect(rules.filter((id) => !ofBrokenServices.has(id) && !failures[id])).toEqual([]);
    expect(Object.keys(failures)).toEqual(rules);
  });

  it.each(Object.entries(unusualServices))('passes a service that %s', async (_, { respond }) => {
    await using service = await start(respond);
    expect(failed(await checkContract(service.options))).toEqual({});
  });

  it('reports a date of removal other than that of the contract', async () => {
    await using service = await start(async (_, forward) => {
      const response = await forward();
      if (response.headers.has('sunset'))
        response.headers.set('sunset', 'Mon, 01 Jan 2035 00:00:00 GMT');
      return response;
    });
    const checks = await checkContract({ ...service.options, write: false });
    const seen = expect.stringMatching(/2035.*; the contract's date is 2030-12-05$/);
    expect(checks).toContainEqual(expect.objectContaining({ id: 'get-deprecation', seen }));
  });

  it('passes services that honour Idempotency-Key', async () => {
    await using builtin = await start();
    const options = { ...builtin.options, idempotency: true };
    const results = await checkContract(options);
    const passed = results.filter(({ verdict }) => verdict === 'pass').map(({ rule }) => rule);
    expect(failed(results)).toEqual({});
    expect(passed.filter((rule) => rule.includes('with one Idempotency-Key'))).toHaveLength(6);
    expect(formatReport('', results, false)).toContain('Set UPSTREAM_IDEMPOTENCY=on\n');
    const one = results.filter(({ id }) => id !== 'message-reused');
    expect(formatReport('', one, false)).toContain('Set UPSTREAM_IDEMPOTENCY=pets\n');
    const none = results.filter(({ id }) => !/-again$/.test(id));
    expect(formatReport('', none, false)).not.toContain('UPSTREAM_IDEMPOTENCY');
    // The first of the four at once is the third of all.
    const { promise: until, resolve } = Promise.withResolvers<void>();
    await using draft = await startIdempotentService(({ body }, attempt) => {
      if (!body.includes('Idempotency')) return {};
      if (attempt === 6) resolve();
      return attempt === 3 ? { until } : {};
    });
    const baseUrls = { pets: new URL(`${draft.url}/v1`) };
    const checks = await checkContract({ ...options, baseUrls });
    const ids = doneOnce.map(({ id }) => id).filter((id) => id.startsWith('create-'));
    const found = checks.filter(({ id }) => ids.includes(id));
    expect(found.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass']);
    expect(found[1]?.seen).toMatch(/^id \d+, 409 to 3$/);
  });

  const sent = new Map<string | null, number>();
  it.each<[string, BrokenService['respond'], RegExp]>([
    [
      'ignores it',
      (_, forward) => forward({ idempotencyKey: null }),
      /-(?:again|in-flight|reused)$/,
    ],
    [
      'does not compare the values',
      ({ idempotencyKey: key, body }, forward) =>
        forward({ idempotencyKey: key && hash('sha256', key + body) }),
      /-reused$/,
    ],
    [
      'forgets a key that was sent twice',
      ({ idempotencyKey: key }, forward) => {
        const count = (sent.get(key) ?? 0) + 1;
        sent.set(key, count);
        return forward(count > 2 ? { idempotencyKey: null } : {});
      },
      /-in-flight$/,
    ],
  ])('fails a service that does not honour Idempotency-Key: %s', async (_, respond, ids) => {
    await using service = await start(respond);
    const checks = await checkContract({ ...service.options, idempotency: true });
    const expected = doneOnce.map(({ id }) => id).filter((id) => ids.test(id));
    expect(Object.keys(failed(checks))).toEqual(expected);
  });

  it('sends the same headers as the gateway, which name it', async () => {
    const heads: string[] = [];
    await using service = await startFaultServer((socket, _, request) => {
      const [line = '', ...fields] = request.replace(/\r\n\r\n.*/s, '').split('\r\n');
      const lower = fields.map((field) => field.replace(/^[^:]+/, (name) => name.toLowerCase()));
      const named = lower.map((field) => field.replace(/(?<=id|length|tion): .*/, ''));
      heads.push([line.slice(0, 4), ...named.toSorted()].join('\n'));
      socket.write(encodeResponse('200 OK', '[]'));
    });
    await checkContract({ ...optionsOf(service.url), write: true });
    const checked = new Set(heads.splice(0));
    await using petStore = openRest(service.url);
    await petStore.listPets(callWith(), {});
    await petStore.createPet(callWith(), { name: 'Rex', categoryId: '1' }).catch(() => {});
    expect(heads).toHaveLength(2);
    for (const head of heads) {
      expect(head).toContain(`\nuser-agent: petstore-gateway/${manifest.version}\n`);
      expect(checked).toContain(head);
    }
  });

  it('fails a service that sends 100 (Continue), which the gateway cannot read', async () => {
    const list = encodeResponse('200 OK', '[]');
    const unasked = Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), list]);
    await using service = await startFaultServer((socket) => socket.write(unasked));
    const problem = '100 (Continue), which the gateway cannot read';
    await expect(checkContract(optionsOf(service.url))).rejects.toThrow(problem);
  });

  it('accepts a Content-Encoding that names no coding', async () => {
    for (const value of ['', 'identity', 'Identity,, identity']) {
      await using service = await startFaultServer((socket) =>
        socket.write(encodeResponse('200 OK', '[]', [`Content-Encoding: ${value}`])),
      );
      const checks = await checkContract(optionsOf(service.url));
      expect(checks.find(({ id }) => id === 'list')).toMatchObject({ verdict: 'pass' });
    }
  });

  it('fails a check without a response, and throws if the first request has none', async () => {
    const list = encodeResponse('200 OK', '[]');
    await using service = await startFaultServer((socket, attempt) => {
      if (attempt === 1) socket.write(list);
      else socket.resetAndDestroy();
    });
    const options = optionsOf(service.url);
    expect(failed(await checkContract(options))).toMatchObject({
      list: 'no complete response: ECONNRESET',
      'get-missing': 'no complete response: ECONNRESET',
    });
    await expect(checkContract(options)).rejects.toThrow(
      `${service.url}/ could not be reached: no complete response: ECONNRESET.`,
    );
  });

  it('stops waiting for a response after timeoutMs', async () => {
    await using service = await startFaultServer((socket) => socket.write('HTTP/1.1 200 OK\r\n'));
    const checks = checkContract({ ...optionsOf(service.url), timeoutMs: 50 });
    await expect(checks).rejects.toThrow('no complete response within 50 ms');
  });

  it('throws if the service refuses the key', async () => {
    await using service = await start();
    await expect(checkContract({ ...service.options, apiKey: 'wrong-key' })).rejects.toThrow(
      /\/v1 refused the API key \(401\)/,
    );
  });

  it('sends no request with an invalid key', async () => {
    const checks = checkContract({ ...optionsOf('http://127.0.0.1:9/v1'), apiKey: 'no key' });
    await expect(checks).rejects.toThrow(UnauthenticatedError);
  });
});
