import { describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.ts';

/** Bodies that are expensive for their length, and the exceeded limit. */
const bodies: readonly [name: string, value: string, limit: string][] = [
  ['lists in lists', '['.repeat(120_000) + ']'.repeat(120_000), '500 levels of nesting'],
  ['objects in objects', `${'{"a":'.repeat(501)}1${'}'.repeat(501)}`, '500 levels of nesting'],
  ['lists that do not end', '['.repeat(240_000), '500 levels of nesting'],
  ['many numbers', `[${'1,'.repeat(10_000)}1]`, '10000 JSON values'],
  [
    'many large numbers',
    `[${Array(12_000).fill('9223372036854775807').join()}]`,
    '10000 JSON values',
  ],
  ['a long number', '9'.repeat(200_000), '1000 characters of a number'],
  ['a long exponent', `1e${'9'.repeat(200_000)}`, '1000 characters of a number'],
];

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };

describe('the JSON of a request', () => {
  it.each(bodies)('is refused with 400 for %s', async (_, value, limit) => {
    await using opened = await openGateway();
    const text = `{"query":"{ __typename }","variables":{"v":${value}}}`;
    const post = (path: string, body: string) =>
      opened.gateway(new Request(`http://gateway.test${path}`, { method: 'POST', headers, body }));
    const graphql = await post('/graphql', text);
    expect(graphql.status).toBe(400);
    const message = `body: expected at most ${limit}, received more.`;
    expect((await graphql.json()).errors[0].message).toBe(message);
    const rest = await post('/v1/pets', value);
    expect(rest.status).toBe(400);
    expect(await rest.json()).toEqual({ code: 'invalid_value', message, status: 400 });
  });

  it.each([
    [
      'a name of brackets and digits',
      `{"name":"${'['.repeat(600)}${'9'.repeat(2000)}","categoryId":1}`,
    ],
    ['a name that ends with a backslash', `{"name":"${'x'.repeat(1000)}\\\\","categoryId":1}`],
    ['a name of quotes', `{"name":"${'\\"[1,'.repeat(200)}","categoryId":9223372036854775807}`],
  ])('may have %s', async (_, input) => {
    await using opened = await openGateway();
    const query = 'mutation ($input: AddPetInput!) { addPet(input: $input) { name categoryId } }';
    const body = `{"query":${JSON.stringify(query)},"variables":{"input":${input}}}`;
    const request = new Request('http://gateway.test/graphql', { method: 'POST', headers, body });
    const { data, errors } = await (await opened.gateway(request)).json();
    const tooLong = JSON.parse(input).name.length > 1000;
    if (tooLong) expect(errors[0].message).toContain('name');
    else expect(data.addPet.name).toBe(JSON.parse(input).name);
  });
});
