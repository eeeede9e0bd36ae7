import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { print } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  AddPetDocument,
  createRetryFetch,
  ListPetsDocument,
  persistedHash,
} from '../../../packages/client/src/index.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

const extensions = { code: 'OVERLOADED', outcome: 'NOT_DONE', retryAfterMs: 0 };
const busy = JSON.stringify({ errors: [{ message: 'Busy.', extensions }] });
const send = createRetryFetch({ baseDelayMs: 1 });
const post = (body: BodyInit) => ({ method: 'POST', body, duplex: 'half' });
const list = JSON.stringify({ query: print(ListPetsDocument) });
const head = { 'content-type': 'application/json' };
const hash = persistedHash(ListPetsDocument);

describe('createRetryFetch', () => {
  it.each<[string, (url: string) => Parameters<typeof fetch>, number]>([
    ['a query by POST', (url) => [url, post(list)], 3],
    ['a query by GET', (url) => [`${url}?documentId=${hash}`], 3],
    ['a URL', (url) => [new URL(url)], 3],
    ['a Request without a body', (url) => [new Request(url)], 3],
    ['a mutation', (url) => [url, post(JSON.stringify({ query: print(AddPetDocument) }))], 3],
    [
      'an escaped mutation',
      (url) => [url, post('{"query":"mutation { a }"}'.replace('m', '\\u006d'))],
      3,
    ],
    ['a batch', (url) => [url, post(`[${list}]`)], 3],
    ['a hash by POST', (url) => [url, post(JSON.stringify({ documentId: hash }))], 3],
    [
      'a hash beside an empty text',
      (url) => [url, post(JSON.stringify({ query: '', documentId: hash }))],
      3,
    ],
    ['a text that is not JSON', (url) => [url, post('{')], 3],
    ['a body of bytes', (url) => [url, post(new TextEncoder().encode(list))], 1],
    ['a Request with JSON', (url) => [new Request(url, { ...post(list), headers: head })], 3],
    ['a Request with another body', (url) => [new Request(url, post(list))], 1],
  ])('sends %s to a busy gateway as often as is safe', async (_, request, attempts) => {
    await using gateway = await startUpstream((_, response) => sendJson(response, 503, busy));
    const response = await send(...request(gateway.url));
    expect([response.status, await response.text()]).toEqual([503, busy]);
    expect(gateway.seen).toHaveLength(attempts);
  });

  it('sends all attempts of a mutation with one Idempotency-Key, and each mutation with its own', async () => {
    await using gateway = await startUpstream((_, response) => sendJson(response, 503, busy));
    const add = post(JSON.stringify({ query: print(AddPetDocument) }));
    const keys = () => gateway.seen.splice(0).map((one) => one.headers['idempotency-key']);
    await send(gateway.url, add);
    const [first, ...others] = keys();
    expect(first).toMatch(/^[!-~]{20,255}$/);
    expect(others).toEqual([first, first]);
    await send(gateway.url, add);
    expect(keys()).not.toContain(first);
    await send(gateway.url, { ...add, headers: { 'Idempotency-Key': 'mine' } });
    expect(keys()).toEqual(['mine', 'mine', 'mine']);
    await send(new Request(gateway.url, { ...add, headers: head }));
    const [ofRequest, ...again] = keys();
    expect(ofRequest).toMatch(/^[!-~]{20,255}$/);
    expect(again).toEqual([ofRequest, ofRequest]);
    await send(gateway.url, post(list));
    expect(keys()).toEqual([undefined, undefined, undefined]);
  });

  it('sends the time that is left with each attempt, and repeats nothing after it', async () => {
    await using gateway = await startUpstream((_, response) => sendJson(response, 503, busy));
    const headers = { authorization: 'Bearer demo-key' };
    const sendUntil = (timeoutMs: number, baseDelayMs: number) =>
      createRetryFetch({ timeoutMs, baseDelayMs })(gateway.url, { ...post(list), headers });
    const left = () => gateway.seen.map((one) => Number(one.headers['x-petstore-timeout-ms']));
    await sendUntil(8000, 50);
    expect(left()).toHaveLength(3);
    expect(left()[0]).toBeGreaterThan(7000);
    expect(left()[0]).toBeLessThanOrEqual(8000);
    expect(left()[2]).toBeLessThan(left()[0] ?? 0);
    expect(gateway.seen[2]?.headers.authorization).toBe('Bearer demo-key');
    const response = await sendUntil(1, 10_000);
    expect([response.status, left().length, left()[3]]).toEqual([503, 4, 1]);
  });

  const add = JSON.stringify({ query: print(AddPetDocument) });
  const parts = { 'content-type': 'multipart/mixed; boundary="-"' };
  it.each<[string, BodyInit, (response: ServerResponse) => unknown]>([
    ['that does not respond to a query', list, () => {}],
    ['that does not respond to a mutation', add, () => {}],
    ['that does not respond to bytes', new TextEncoder().encode(add), () => {}],
    ['whose JSON never ends', list, (response) => response.writeHead(200, head).write('{')],
    ['whose parts never end', list, (response) => response.writeHead(200, parts).write('---')],
    ['whose error never ends', add, (response) => response.writeHead(502).write('<p>')],
  ])('rejects a second after the deadline for a gateway %s', async (_, body, respond) => {
    await using gateway = await startUpstream((_, response) => respond(response));
    const caller = new AbortController();
    const sendFor = createRetryFetch({ timeoutMs: 200, baseDelayMs: 1 });
    const start = performance.now();
    const read = async () => {
      const response = await sendFor(gateway.url, { ...post(body), signal: caller.signal });
      return response.text();
    };
    await expect(read()).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'The gateway did not respond in time. A write may have been carried out.',
    });
    expect(performance.now() - start).toBeGreaterThan(1190);
    expect(gateway.seen).toHaveLength(1);
  });

  it('keeps a response that is read later than that', async () => {
    await using gateway = await startUpstream(({ url }, response) => {
      if (url === '/') sendJson(response, 200, '{"data":{}}');
      if (url === '/proxy') response.writeHead(400, { 'content-type': 'text/html' }).end('<p>');
    });
    const sendFor = createRetryFetch({ timeoutMs: 100 });
    const { signal } = new AbortController();
    const response = await sendFor(gateway.url, { ...post(list), signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const ofProxy = await sendFor(`${gateway.url}/proxy`, post(list));
    const later = sendFor(`${gateway.url}/silent`, post(list));
    await expect(later).rejects.toHaveProperty('name', 'TimeoutError');
    expect(await response.text()).toBe('{"data":{}}');
    expect(await ofProxy.text()).toBe('<p>');
  });

  it('ends a request with a deadline when its caller aborts it', async () => {
    const [caller, left] = [new AbortController(), new Error('The caller has left.')];
    await using gateway = await startUpstream(() => caller.abort(left));
    const sendFor = createRetryFetch({ timeoutMs: 60_000 });
    const init = { ...post(list), signal: caller.signal };
    await expect(sendFor(gateway.url, init)).rejects.toBe(left);
    await expect(sendFor(gateway.url, init)).rejects.toBe(left);
    expect(gateway.seen).toHaveLength(1);
  });

  it('passes on responses in parts as they arrive', async () => {
    let end = () => {};
    await using gateway = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'multipart/mixed; boundary="-"' });
      response.write('---');
      end = () => response.end('--');
    });
    const { body } = await send(gateway.url, post(list));
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('---');
    end();
    expect((await reader?.read())?.value).toBe('--');
  });

  it.each([
    ['a query', list, 503],
    ['a mutation', add, 502],
  ])('takes the page of a proxy off its connection before it repeats %s', async (_, body, status) => {
    const page = 'x'.repeat(20_000_000);
    let taken: Promise<unknown> | undefined;
    await using gateway = await startUpstream((_, response) => {
      taken?.then(() => sendJson(response, 503, busy));
      if (taken) return;
      taken = once(response, 'close');
      response.writeHead(502, { 'content-type': 'text/html' }).end(page);
    });
    const response = await send(gateway.url, post(body));
    expect(response.status).toBe(status);
    expect((await response.text()) === (status === 502 ? page : busy)).toBe(true);
    expect(gateway.seen).toHaveLength(3);
  });

  it('rejects when no attempt reaches the gateway', async () => {
    const { url, [Symbol.asyncDispose]: close } = await startUpstream(() => {});
    await close();
    await expect(send(url, post(list))).rejects.toThrow('fetch failed');
  });
});
