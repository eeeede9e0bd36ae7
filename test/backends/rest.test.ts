import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openRestPetStore } from '../../src/backends/rest/pet-store.ts';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  ErrorResponse,
  InvalidResponseError,
} from '../../src/contract/error.ts';
import { callWith } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { type SeenRequest, sendJson, startUpstream } from '../support/upstream.ts';

async function startRest(
  answer: (request: SeenRequest, response: ServerResponse) => void,
  { path = '/v1', timeoutMs = 10_000 } = {},
) {
  const upstream = await startUpstream(answer);
  const petStore = openRestPetStore(
    {
      baseUrl: new URL(upstream.url + path),
      messagesBaseUrl: new URL(`${upstream.url}/quickstart`),
      timeoutMs,
    },
    quiet,
  );
  return {
    petStore,
    seen: upstream.seen,
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]();
      await petStore[Symbol.asyncDispose]();
    },
  };
}

const pet = '{"id":1,"name":"Rex","categoryId":2}';

describe('requests to the REST service', () => {
  it.each([
    [{}, '/v1/pets'],
    [{ limit: 5 }, '/v1/pets?limit=5'],
    [{ status: 'sold' }, '/v1/pets?status=sold'],
    [{ limit: 5, status: 'sold' }, '/v1/pets?limit=5&status=sold'],
  ] as const)('carry the parameters of %j and no others', async (query, url) => {
    await using rest = await startRest((_, response) => sendJson(response, 200, '[]'));
    await rest.petStore.listPets(callWith(), query);
    expect(rest.seen).toMatchObject([{ method: 'GET', url }]);
  });

  it.each(['/v1', '/v1/', '/deep/er/v1'])('keep the path of the base address %s', async (path) => {
    await using rest = await startRest((_, response) => sendJson(response, 200, pet), { path });
    await rest.petStore.getPet(callWith(), '-9223372036854775808');
    expect(rest.seen[0]?.url).toBe(`${path.replace(/\/$/, '')}/pets/-9223372036854775808`);
  });

  it('forward the Authorization header verbatim, ask for no encoding, and name the request', async () => {
    await using rest = await startRest((_, response) => sendJson(response, 200, '[]'));
    const call = { ...callWith('a.b~c+/=='), authorization: 'bearer a.b~c+/==' };
    await rest.petStore.listPets(call, {});
    expect(rest.seen[0]?.headers).toMatchObject({
      authorization: 'bearer a.b~c+/==',
      'accept-encoding': 'identity',
      'x-request-id': 'test',
    });
  });

  it('write ids as numbers with all their digits', async () => {
    await using rest = await startRest((_, response) => sendJson(response, 201, pet));
    await rest.petStore.createPet(callWith(), { name: 'Rex', categoryId: '9223372036854775807' });
    expect(rest.seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/pets',
      body: '{"name":"Rex","categoryId":9223372036854775807}',
      headers: { 'content-type': 'application/json' },
    });
  });

  it('send messages to their own base address', async () => {
    const message = '{"id":"m1","message":"Hi","status":"sent","createdAt":"2026-11-20T10:00:00Z"}';
    await using rest = await startRest((_, response) => sendJson(response, 202, message));
    expect(await rest.petStore.sendMessage(callWith(), 'Hi')).toEqual(JSON.parse(message));
    expect(rest.seen).toMatchObject([{ url: '/quickstart/messages', body: '{"message":"Hi"}' }]);
  });

  it('send no message without an address for it, and say why', async () => {
    await using petStore = openRestPetStore(
      {
        baseUrl: new URL('http://127.0.0.1:9/v1'),
        messagesBaseUrl: undefined,
        timeoutMs: 1000,
      },
      quiet,
    );
    await expect(petStore.sendMessage(callWith(), 'Hi')).rejects.toEqual(
      new BackendUnavailableError(
        'Messages can not be sent: this gateway has no MESSAGES_BASE_URL.',
      ),
    );
  });

  it('follow no redirect', async () => {
    await using elsewhere = await startUpstream((_, response) => sendJson(response, 200, '[]'));
    await using rest = await startRest((_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/pets` }).end();
    });
    await expect(rest.petStore.listPets(callWith(), {})).rejects.toMatchObject({ status: 307 });
    expect(elsewhere.seen).toEqual([]);
  });
});

describe('answers of the REST service', () => {
  it('become an ErrorResponse with the Error body, its three fields verbatim', async () => {
    const text = '{"code":"gone","message":"No such pet.","status":404,"trace":"x"}';
    await using rest = await startRest((_, response) => sendJson(response, 404, text));
    await expect(rest.petStore.getPet(callWith(), '1')).rejects.toEqual(
      ErrorResponse.of({ code: 'gone', message: 'No such pet.', status: 404 }),
    );
  });

  it.each([
    [401, 'text/html', '', undefined],
    [400, 'application/json', '{"oops":1}', undefined],
    [500, 'application/json', '{"code":"x","message":"db at 10.0.0.1","status":500}', undefined],
    [
      422,
      'application/problem+json',
      '{"type":"https://e.example/name","title":"Bad","detail":"Name is taken."}',
      { code: 'https://e.example/name', message: 'Name is taken.', status: 422 },
    ],
  ])('%i with %s %s keeps the status and the body that may be shown', async (status, type, text, body) => {
    await using rest = await startRest((_, response) => {
      response.writeHead(status, { 'content-type': type }).end(text);
    });
    const error = await rest.petStore.listPets(callWith(), {}).catch((reason) => reason);
    expect(error).toBeInstanceOf(ErrorResponse);
    expect(error).toMatchObject({
      status,
      message: body?.message ?? `The pet store answered with HTTP status ${status}.`,
    });
    expect(error.body).toEqual(body);
  });

  it('tell how long to wait, in seconds or as a date', async () => {
    const headers = ['7', new Date(Date.now() + 60_000).toUTCString()];
    await using rest = await startRest((_, response) => {
      response.writeHead(429, { 'retry-after': headers.shift() ?? '' }).end();
    });
    const ask = () => rest.petStore.listPets(callWith(), {}).catch((reason) => reason);
    expect((await ask()).retryAfterMs).toBe(7000);
    const byDate = (await ask()).retryAfterMs;
    expect(byDate).toBeGreaterThan(50_000);
    expect(byDate).toBeLessThanOrEqual(60_000);
    expect((await ask()).retryAfterMs).toBeUndefined();
  });

  it.each([
    ['not JSON', 'application/json', '<html>'],
    ['cut off', 'application/json', '[{"id":1,'],
    ['of another type', 'text/html', '[]'],
    ['of a wrong shape', 'application/json', '{"pets":[]}'],
    [
      'not UTF-8',
      'application/json',
      Buffer.from('[{"id":1,"name":"\xff","categoryId":1}]', 'latin1'),
    ],
  ])('that are %s are refused', async (_, type, body) => {
    await using rest = await startRest((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    await expect(rest.petStore.listPets(callWith(), {})).rejects.toBeInstanceOf(
      InvalidResponseError,
    );
  });

  it('that are encoded, though nobody asked, are refused', async () => {
    await using rest = await startRest((_, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end('[]');
    });
    await expect(rest.petStore.listPets(callWith(), {})).rejects.toThrow('expected no encoding');
  });

  it('that never come end at the deadline', async () => {
    await using rest = await startRest(() => {}, { timeoutMs: 100 });
    await expect(rest.petStore.listPets(callWith(), {})).rejects.toBeInstanceOf(
      BackendTimeoutError,
    );
  });

  it('that drip for ever end at the deadline', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using rest = await startRest(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 10);
        response.once('close', () => {
          clearInterval(drip);
          resolve();
        });
      },
      { timeoutMs: 200 },
    );
    await expect(rest.petStore.listPets(callWith(), {})).rejects.toBeInstanceOf(
      BackendTimeoutError,
    );
    await promise;
  });

  it('that are refused or reset make the service unavailable, without naming its address', async () => {
    await using rest = await startRest((_, response) => response.destroy());
    const reset = await rest.petStore.listPets(callWith(), {}).catch((reason) => reason);
    expect(reset).toBeInstanceOf(BackendUnavailableError);
    expect(reset.message).not.toMatch(/127|localhost/);
    await using closed = openRestPetStore(
      {
        baseUrl: new URL('http://127.0.0.1:9/v1'),
        messagesBaseUrl: undefined,
        timeoutMs: 1000,
      },
      quiet,
    );
    await expect(closed.listPets(callWith(), {})).rejects.toBeInstanceOf(BackendUnavailableError);
  });
});

describe('a caller that leaves', () => {
  it('ends a read upstream', async () => {
    const caller = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    await using rest = await startRest((_, response) => {
      response.once('close', () => resolve());
      caller.abort();
    });
    const read = rest.petStore.listPets(callWith('k', caller.signal), {});
    await expect(read).rejects.toMatchObject({ name: 'AbortError' });
    await ended;
  });

  it('does not cancel a write that was sent', async () => {
    const caller = new AbortController();
    await using rest = await startRest((_, response) => {
      caller.abort();
      setImmediate(() => sendJson(response, 201, pet));
    });
    const added = await rest.petStore.createPet(callWith('k', caller.signal), {
      name: 'Rex',
      categoryId: '2',
    });
    expect(added.id).toBe('1');
  });

  it('sends nothing any more', async () => {
    await using rest = await startRest((_, response) => sendJson(response, 201, pet));
    const gone = callWith('k', AbortSignal.abort());
    const write = rest.petStore.createPet(gone, { name: 'Rex', categoryId: '2' });
    await expect(write).rejects.toThrow();
    expect(rest.seen).toEqual([]);
  });
});
