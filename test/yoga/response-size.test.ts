import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { ErrorResponse, InvalidResponseError } from '../../src/contract/error.ts';
import { JsonText } from '../../src/contract/json.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import type { Pet } from '../../src/petstore/records.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';
import { sendForParts } from '../support/parts.ts';

const authorization = 'Bearer demo-key';
const maxLength = 8 * 1024 * 1024;
const petNamed = (name: string): Pet => ({ id: '1', name, categoryId: '1' });
const aliases = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');

/** Opens a gateway whose store has these calls. */
async function openWith(calls: Partial<PetStore>) {
  const { operationLimits } = loadConfig({ MAX_ALIASES: '100' });
  return openGateway({ petStore: { ...(await openBuiltin()), ...calls }, operationLimits });
}

/** Sends a query to a gateway whose pages depend on the limit. */
async function send(query: string, pageOf: (limit: number | undefined) => readonly Pet[]) {
  await using opened = await openWith({ listPets: async (_call, { limit }) => pageOf(limit) });
  const { text } = await postGraphQL(opened.gateway, query);
  return { text, ...JSON.parse(text) };
}

describe('a response', () => {
  it('reports that a write was done if its result is too large', async () => {
    await using opened = await openWith({ createPet: async () => petNamed('x'.repeat(3_000_000)) });
    const add = 'addPet(input: { name: "x", categoryId: 1 })';
    const query = `mutation { ${add} { a: name b: name c: name } }`;
    const { data, errors } = await postGraphQL(opened.gateway, query);
    expect(data).toEqual({ addPet: null });
    const extensions = { code: 'RESPONSE_TOO_LARGE', outcome: 'DONE' };
    expect(errors).toMatchObject([{ path: ['addPet'], extensions }]);
  });

  it('does not report that a refused write was done if the errors are too large', async () => {
    const createPet = () => Promise.reject(new ErrorResponse(400, 'x'.repeat(1_100_000)));
    await using opened = await openWith({ createPet });
    const query = 'mutation { addPet(input: { name: "x", categoryId: 1 }) { id } }';
    const { errors } = await postGraphQL(opened.gateway, query);
    const extensions = { code: 'RESPONSE_TOO_LARGE', outcome: 'UNKNOWN' };
    expect(errors).toMatchObject([{ extensions }]);
    expect(errors?.[0]?.message).toMatch(/ The write may have been carried out\.$/);
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
    expect(errors).toEqual([
      {
        message: expect.stringContaining(`too large: expected at most ${maxLength} characters`),
        path: ['b'],
        extensions: { code: 'RESPONSE_TOO_LARGE', requestId: expect.any(String) },
      },
    ]);
  });

  it('is logged with each code once, and counts each error of a field that it omits', async () => {
    const page = [petNamed('x'.repeat(5_000_000))];
    await using opened = await openWith({ listPets: async () => page });
    await postGraphQL(opened.gateway, `{ ${aliases(3, 'pets { name }')} }`);
    expect(opened.requests()).toMatchObject([{ codes: ['RESPONSE_TOO_LARGE'] }]);
    const { text } = await opened.metrics.scrape();
    expect(text).toMatch(/^petstore_graphql_errors_total\{code="RESPONSE_TOO_LARGE"\} 2\b/m);
    expect(text).toContain('outcome="error"');
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
    const status = new InvalidResponseError('y'.repeat(1000)) as never;
    const page = Array.from({ length: 100 }, () => ({ ...petNamed('x'), status }));
    const { text, errors } = await send(`{ pets { ${aliases(100, 'status')} } }`, () => page);
    expect(text.length).toBeLessThanOrEqual(maxLength);
    expect(errors[0].extensions.code).toBe('RESPONSE_TOO_LARGE');
  });

  it.each([
    ['short numbers', '1', 200_000],
    ['long numbers', `0.${'1'.repeat(38)}`, 20_000],
  ])('is complete if it repeats many %s and is still short enough', async (_, number, count) => {
    const orders = `[${Array(count).fill(number).join()}]`;
    await using opened = await openWith({ listOrders: async () => new JsonText(orders) });
    const { text } = await postGraphQL(opened.gateway, `{ ${aliases(9, 'orders')} }`);
    const fields = Array.from({ length: 9 }, (_, index) => `"a${index}":${orders}`);
    expect(text === `{"data":{${fields.join(',')}}}`).toBe(true);
  });

  /** Names that JSON.stringify could not repeat thirty times: V8 limits the length of a string. */
  const hugePage = Array.from({ length: 10 }, () => petNamed('x'.repeat(2_000_000)));
  const openHuge = () => openWith({ listPets: async () => hugePage });
  const thirty = `pets { ${aliases(30, 'name')} }`;

  it.each([
    ['a whole', `{ ${thirty} }`, 'application/json'],
    ['a first', `{ ${thirty} ... @defer { __typename } }`, 'multipart/mixed'],
    ['a later', `{ __typename ... @defer { ${thirty} } }`, 'multipart/mixed'],
    [
      'a later (2022)',
      `{ __typename ... @defer { ${thirty} } }`,
      'multipart/mixed;deferSpec=20220824',
    ],
  ])('is not encoded if %s part of it is far too large', async (_, query, accept) => {
    await using opened = await openHuge();
    const response = await sendForParts(opened.gateway, 'http://gateway.test', query, accept);
    const text = await response.text();
    expect(text).toContain('"code":"RESPONSE_TOO_LARGE"');
    expect(text.length).toBeLessThan(10_000);
  });

  it('has the same limit for callers of execute', async () => {
    await using opened = await openHuge();
    const { errors } = await opened.execute(`{ ${thirty} }`, {}, { authorization });
    expect(errors).toMatchObject([{ extensions: { code: 'RESPONSE_TOO_LARGE' } }]);
  });

  it.each([
    'incrementalSpec=v0.2',
    'deferSpec=20220824',
  ])('has at most its maximum in all parts together, and then an error that ends it: %s', async (spec) => {
    const pages = [[petNamed('x'.repeat(maxLength - 500))], [petNamed('y'.repeat(400))]];
    await using opened = await openWith({
      listPets: async (_call, { limit = 1 }) => pages[limit - 1] ?? [],
    });
    const query =
      '{ a: pets(limit: 1) { name } ... @defer { pets(limit: 2) { name } } ... @defer { none: pets(limit: 3) { id } } }';
    const accept = `multipart/mixed;${spec}`;
    const response = await sendForParts(opened.gateway, 'http://gateway.test', query, accept);
    const json = (await response.text()).match(/^\{.*\}$/gm) ?? [];
    expect(json.join('')).toContain('RESPONSE_TOO_LARGE');
    expect(json.slice(0, -1).join('').length).toBeLessThanOrEqual(maxLength);
    expect(json.at(-1)?.length).toBeLessThan(1000);
  });
});
