import { describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.ts';

const usual = {
  'content-type': 'application/json',
  authorization: 'Bearer demo-key',
  'x-request-id': 'the-same',
};
const two = 'query A { pets(limit: 1) { id } } query B { __typename }';
const listed = 'query ($limit: Int) { pets(limit: $limit) { id } }';
const one = 'query ($id: ID!) { pet(id: $id) { id name } }';
const skipping = 'query ($x: Boolean!) { pets(limit: 1) { id @skip(if: $x) name } }';
const big = (query: string, name: string, digits: string) =>
  `{"query":${JSON.stringify(query)},"variables":{"${name}":${digits}}}`;

const bodies: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  ...[
    { query: '{ __typename }' },
    { query: '{ __typename }', operationName: '' },
    { query: two },
    { query: two, operationName: '' },
    { query: two, operationName: 'B' },
    { query: two, operationName: 'C' },
    { query: two, operationName: 1 },
    { query: '{ __typename }', variables: [] },
    { query: '{ __typename }', variables: null },
    { query: '{ __typename }', variables: '{}' },
    { query: '{ __typename }', extensions: null },
    { query: '{ __typename }', other: 1 },
    { query: '' },
    { query: null },
    { query: '{' },
    { query: '{ nope }' },
    { query: '{ __schema { queryType { name } } }' },
    { query: '{ pets(limit: 101) { id } orders }' },
    { query: 'subscription { x }' },
    { query: 'mutation { addPet(input: { name: "", categoryId: "x" }) { id } }' },
    ...[{}, { limit: 1 }, { limit: '1' }, { limit: null }].map((variables) => ({
      query: listed,
      variables,
    })),
    { query: listed.replace('Int', 'Int!') },
    { query: listed.replace('Int', 'Int = 2') },
    { query: one, variables: { id: true } },
    { query: skipping, variables: { x: true } },
    { query: skipping },
  ].map((body) => JSON.stringify(body)),
  big(listed, 'limit', '1e400'),
  ...['9223372036854775807', '9223372036854775808', '1.5'].map((id) => big(one, 'id', id)),
  '',
  'null',
  '"x"',
  '[{"query":"{ __typename }"}]',
  '\ufeff{"query":"{ __typename }"}',
  '{"query":"{ __typename }","query":"{ orders }"}',
  '{"query":"{ __typename }","__proto__":null}',
  '{"query":"{ __typename }"} x',
  '{"query":"\\ud800{ __typename }"}',
  Uint8Array.from([0xff, 0xfe]),
];

const headers: readonly Record<string, string>[] = [
  {},
  ...[
    'application/graphql-response+json',
    'application/graphql-response+json;q=0.5, application/json',
    '*/*;q=0.1, application/graphql-response+json',
    'text/plain',
  ].map((accept) => ({ accept })),
  ...['application/json; charset=latin1', 'APPLICATION/JSON', 'text/plain'].map((type) => ({
    'content-type': type,
  })),
  ...['', 'Basic x', 'bearer demo-key', 'Bearer wrong'].map((authorization) => ({ authorization })),
  ...['https://a.example', 'https://b.example'].map((origin) => ({ origin })),
];

describe('the two ways of a JSON post', () => {
  it('answer alike, whatever it holds: status, headers and body', async () => {
    const options = { corsOrigins: ['https://a.example'] };
    await using yoga = await openGateway(options);
    await using short = await startGateway(options);
    for (const body of bodies) {
      for (const more of headers) {
        const init = { method: 'POST', headers: { ...usual, ...more }, body };
        // By the plugins, while it is prepared, and as prepared.
        for (let time = 1; time <= 3; time++) {
          const expected = await yoga.gateway(new Request('http://127.0.0.1/graphql', init));
          const answer = await fetch(`${short.url}/graphql`, init);
          expect(await tell(answer), `${body} ${JSON.stringify(more)}`).toEqual(
            await tell(expected),
          );
        }
      }
    }
  }, 60_000);
});

/** What an answer says, but for what Node adds on a socket. */
async function tell(response: Response) {
  const added = /^(?:connection|content-length|date|keep-alive)$/;
  const told = [...response.headers].filter(([name]) => !added.test(name));
  return { status: response.status, headers: told.toSorted(), body: await response.text() };
}
