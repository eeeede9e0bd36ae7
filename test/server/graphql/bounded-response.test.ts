import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { InvalidResponseError } from '../../../src/contract/error.ts';
import { JsonText } from '../../../src/contract/json.ts';
import type { Pet } from '../../../src/contract/records.ts';
import { openBuiltin, startGateway } from '../../support/gateway.ts';
import { sendForParts } from '../../support/parts.ts';

const authorization = 'Bearer demo-key';

/** Starts a gateway whose pages have this many characters. */
async function startWithPages(length: number) {
  const petStore = await openBuiltin();
  const pet: Pet = { id: '1', name: 'x'.repeat(length / 10), categoryId: '1' };
  const page = Array.from({ length: 10 }, () => pet);
  return startGateway({ petStore: { ...petStore, listPets: async () => page } });
}

describe('a response', () => {
  it('omits the fields that make it too large, each with an error', async () => {
    await using service = await startWithPages(1_500_000);
    const aliases = Array.from({ length: 9 }, (_, index) => `a${index}: pets { name }`);
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ ${aliases.join(' ')} }` }),
    });
    const text = await response.text();
    expect(text.length).toBeLessThan(8 * 1024 * 1024);
    const { data, errors } = JSON.parse(text);
    expect(data.a0).toHaveLength(10);
    expect(data.a8).toBeNull();
    expect(errors.at(-1)).toEqual({
      message: expect.stringContaining('too large'),
      path: ['a8'],
      extensions: { code: 'RESPONSE_TOO_LARGE', requestId: expect.any(String) },
    });
    const nulls = Object.values(data).filter((value) => value === null);
    expect(errors).toHaveLength(nulls.length);
  });

  /** Sends a query to a gateway whose pets depend on the limit. */
  async function send(query: string, pageOf: (limit: number | undefined) => readonly Pet[]) {
    const petStore = await openBuiltin();
    const { operationLimits } = loadConfig({ MAX_ALIASES: '100' });
    await using service = await startGateway({
      operationLimits,
      petStore: { ...petStore, listPets: async (_call, { limit }) => pageOf(limit) },
    });
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    return { text, ...JSON.parse(text) };
  }

  const maxLength = 8 * 1024 * 1024;
  const petNamed = (name: string): Pet => ({ id: '1', name, categoryId: '1' });

  it('reports that a write was done if its result is too large', async () => {
    const petStore = await openBuiltin();
    const added: Pet = { id: '1', name: 'x'.repeat(3_000_000), categoryId: '1' };
    await using service = await startGateway({
      petStore: { ...petStore, createPet: async () => added },
    });
    const add = 'addPet(input: { name: "x", categoryId: 1 })';
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query: `mutation { ${add} { a: name b: name c: name } }` }),
    });
    const { data, errors } = await response.json();
    expect(data).toEqual({ addPet: null });
    const extensions = { code: 'RESPONSE_TOO_LARGE', outcome: 'DONE' };
    expect(errors).toMatchObject([{ path: ['addPet'], extensions }]);
  });

  it('has as many characters as its error says, and every field in order that fits', async () => {
    const large = [petNamed('x'.repeat(5_000_000))];
    const fits = [petNamed('y'.repeat(maxLength - 5_001_000))];
    const { text, data, errors } = await send(
      '{ a: pets(limit: 1) { name } b: pets(limit: 1) { name } c: pets(limit: 2) { name } }',
      (limit) => (limit === 1 ? large : fits),
    );
    expect(text.length).toBeLessThanOrEqual(maxLength);
    expect(text.length).toBeGreaterThan(maxLength - 1000);
    expect([data.a?.length, data.b, data.c?.length]).toEqual([1, null, 1]);
    expect(errors).toMatchObject([{ path: ['b'], extensions: { code: 'RESPONSE_TOO_LARGE' } }]);
    expect(errors[0].message).toContain(`at most ${maxLength} characters`);
  });

  it('counts escapes, so that only the field that they make too large is omitted', async () => {
    const escaped = [petNamed('\u0001'.repeat(2_000_000))];
    const plain = [petNamed('x'.repeat(7_000_000))];
    const { text, data, errors } = await send(
      '{ a: pets(limit: 1) { name } b: pets(limit: 2) { name } }',
      (limit) => (limit === 1 ? escaped : plain),
    );
    expect(text.length).toBeLessThanOrEqual(maxLength);
    expect([data.a, data.b?.length]).toEqual([null, 1]);
    expect(errors).toMatchObject([{ path: ['a'] }]);
  });

  it('is within the limit even if the errors of its fields are not', async () => {
    const pet = {
      ...petNamed('x'),
      status: new InvalidResponseError('y'.repeat(1000)),
    } as unknown as Pet;
    const aliases = Array.from({ length: 100 }, (_, index) => `a${index}: status`);
    const { text, errors } = await send(`{ pets { ${aliases.join(' ')} } }`, () =>
      Array.from({ length: 100 }, () => pet),
    );
    expect(text.length).toBeLessThanOrEqual(maxLength);
    expect(errors[0].extensions.code).toBe('RESPONSE_TOO_LARGE');
  });

  it.each([
    ['short numbers', '1', 200_000],
    ['long numbers', `0.${'1'.repeat(38)}`, 20_000],
  ])('is complete if it repeats many %s and is still short enough', async (_, number, count) => {
    const orders = `[${Array(count).fill(number).join()}]`;
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: { ...petStore, listOrders: async () => new JsonText(orders) },
    });
    const aliases = Array.from({ length: 9 }, (_, index) => `a${index}: orders`);
    const response = await fetch(`${service.url}/graphql?query={${aliases.join(' ')}}`, {
      headers: { authorization },
    });
    const fields = aliases.map((_, index) => `"a${index}":${orders}`);
    expect((await response.text()) === `{"data":{${fields.join(',')}}}`).toBe(true);
  });

  /** Names that JSON.stringify could not repeat thirty times: V8 limits the length of a string. */
  const hugePage = Array.from({ length: 10 }, () => petNamed('x'.repeat(2_000_000)));
  const thirty = Array.from({ length: 30 }, (_, index) => `a${index}: name`).join(' ');

  it.each([
    ['a whole', `{ pets { ${thirty} } }`, 'application/json'],
    ['a first', `{ pets { ${thirty} } ... @defer { __typename } }`, 'multipart/mixed'],
    ['a later', `{ __typename ... @defer { pets { ${thirty} } } }`, 'multipart/mixed'],
    [
      'a later (2022)',
      `{ __typename ... @defer { pets { ${thirty} } } }`,
      'multipart/mixed;deferSpec=20220824',
    ],
  ])('is not encoded if %s part of it is far too large', async (_, query, accept) => {
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: { ...petStore, listPets: async () => hugePage },
    });
    const response = await sendForParts(fetch, service.url, query, accept);
    const text = await response.text();
    expect(text).toContain('"code":"RESPONSE_TOO_LARGE"');
    expect(text.length).toBeLessThan(10_000);
  });

  it.each([
    ['execute', `{ pets { ${thirty} } }`],
    ['executeIncrementally', `{ pets { ${thirty} } ... @defer { __typename } }`],
    ['executeIncrementally', `{ __typename ... @defer { pets { ${thirty} } } }`],
  ] as const)('has the same limit for callers of %s: %s', async (method, query) => {
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: { ...petStore, listPets: async () => hugePage },
    });
    const result = service[method](query, {}, { authorization });
    const last = 'then' in result ? await result : (await Array.fromAsync(result)).at(-1);
    const codes = new Set(last?.errors?.map(({ extensions }) => extensions.code));
    expect([...codes]).toEqual(['RESPONSE_TOO_LARGE']);
  });

  it.each([
    'incrementalSpec=v0.2',
    'deferSpec=20220824',
  ])('has at most its maximum in all parts together, with the error that ends it: %s', async (spec) => {
    const petStore = await openBuiltin();
    const pages = [[petNamed('x'.repeat(maxLength - 500))], [petNamed('y'.repeat(400))]];
    await using service = await startGateway({
      petStore: { ...petStore, listPets: async (_call, { limit = 1 }) => pages[limit - 1] ?? [] },
    });
    const query =
      '{ a: pets(limit: 1) { name } ... @defer { pets(limit: 2) { name } } ... @defer { none: pets(limit: 3) { id } } }';
    const response = await sendForParts(fetch, service.url, query, `multipart/mixed;${spec}`);
    const json = (await response.text()).match(/^\{.*\}$/gm) ?? [];
    expect(json.join('')).toContain('RESPONSE_TOO_LARGE');
    expect(json.join('').length).toBeLessThanOrEqual(maxLength);
  });

  it('is dropped when clients leave too much unread; others receive theirs', async () => {
    await using service = await startWithPages(7_000_000);
    const { hostname, port } = new URL(service.url);
    let closed = 0;
    const sockets = Array.from({ length: 30 }, () => connect(Number(port), hostname));
    for (const socket of sockets) {
      await once(socket, 'connect');
      socket.pause().once('close', () => closed++);
      socket.on('error', () => {});
      socket.write(
        `GET /graphql?query={pets{name}} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
      );
    }
    await vi.waitFor(
      () => {
        const requests = service.lines.filter((line) => line.includes('"msg":"request"'));
        expect(requests).toHaveLength(30);
      },
      { timeout: 20_000 },
    );
    const response = await fetch(`${service.url}/graphql?query={pets{id}}`, {
      headers: { authorization },
    });
    expect(await response.text()).toContain('{"id":"1"}');
    for (const socket of sockets) socket.resume();
    await vi.waitFor(() => expect(closed).toBeGreaterThan(15), { timeout: 20_000 });
    for (const socket of sockets) socket.destroy();
  }, 60_000);
});
