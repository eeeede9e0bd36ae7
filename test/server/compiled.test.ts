import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { recording } from '../support/recording.ts';

/** Operations for which compiled code is known to answer wrongly, or came close. */
const operations: readonly [name: string, query: string, variables: Record<string, unknown>][] = [
  [
    'a fragment spread twice under different conditions',
    'query($a:Boolean!,$b:Boolean!){pets(limit:2){...F @include(if:$a) ...F @include(if:$b)}} fragment F on Pet{id name}',
    { a: false, b: true },
  ],
  [
    'a field asked for twice under different conditions',
    'query($a:Boolean!,$b:Boolean!){pets(limit:2){id @include(if:$a) id @include(if:$b) name}}',
    { a: false, b: true },
  ],
  [
    'null for a variable with a default where null is not allowed',
    'mutation($n:String="d",$c:ID!){addPet(input:{name:$n,categoryId:$c}){name}}',
    { n: null, c: 1 },
  ],
  ['a default that is used', 'query($n:Int=1){pets(limit:$n){id}}', {}],
  ['null for a limit', 'query($n:Int=1){pets(limit:$n){id}}', { n: null }],
  ['variables that can not be read', 'query($s:PetStatus){pets(status:$s){id}}', { s: 'lost' }],
  ['a missing variable', 'query($i:ID!){pet(id:$i){id}}', {}],
  [
    'fields that fail beside others',
    '{a:pets(limit:0){id} b:pets(limit:1){id} c:pet(id:404404){id}}',
    {},
  ],
  ['the same field by two names', '{pets(limit:1){a:id b:id id}}', {}],
  [
    'a fragment in two places',
    '{a:pets(limit:1){...F} b:pets(limit:2){...F}} fragment F on Pet{id status}',
    {},
  ],
  ['what a type is called', '{__typename pets(limit:1){__typename id}}', {}],
  ['an operation name that is a part of a document', 'query\n{pets(limit:1){id}}', {}],
  ['introspection', '{__type(name:"Pet"){fields{name type{name kind}}}}', {}],
];

/** Without what differs from request to request. */
function comparable(text: string): unknown {
  return parseJson(text.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""'));
}

describe('an operation that is sent again and again', () => {
  it.each(
    operations,
  )('is answered as it was the first time, on both ways: %s', async (_, query, variables) => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const send = async (path: string) => {
      calls.length = 0;
      const response = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      });
      return [response.status, comparable(await response.text()), [...calls]];
    };
    const first = await send('/graphql');
    for (let again = 0; again < 4; again++) expect(await send('/graphql')).toEqual(first);
    // With a query in its URL, a request takes Yoga's way.
    for (let again = 0; again < 4; again++) expect(await send('/graphql?')).toEqual(first);
  });

  it('does not mistake an operation name for a part of a document', async () => {
    await using service = await startGateway();
    const send = (body: object) =>
      fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer demo-key',
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
        },
        body: JSON.stringify(body),
      });
    for (let again = 0; again < 3; again++) await send({ query: 'query\n{pets{id}}' });
    const other = await send({ query: '{pets{id}}', operationName: 'query' });
    expect(other.status).toBe(400);
  });

  it('refuses null where it is not allowed as the client mistake that it is', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'mutation($n:String="d"){addPet(input:{name:$n,categoryId:1}){name}}',
        variables: { n: null },
      }),
    });
    expect(await response.json()).toMatchObject({
      errors: [{ path: ['addPet'], extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(calls).toEqual([]);
    expect(service.logged).toEqual([]);
  });
});
