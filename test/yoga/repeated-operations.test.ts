import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { postGraphQL, withKey } from '../support/graphql.ts';
import { recording } from '../support/recording.ts';

/** Operations that `test/execution` does not generate. */
const operations = [
  [
    'fields that fail next to others',
    '{a:pets(limit:0){id} b:pets(limit:1){id} c:pet(id:404404){id}}',
  ],
  ['a document that could be mistaken for an operation name', 'query\n{pets(limit:1){id}}'],
] as const;

/** Parses a response without its request id. */
function comparable(text: string): unknown {
  return parseJson(text.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""'));
}

describe('an operation that is sent repeatedly', () => {
  it.each(operations)('gets the same response every time: %s', async (_, query) => {
    const { petStore, calls } = recording(await openBuiltin());
    await using opened = await openGateway({ petStore });
    const send = async () => {
      calls.length = 0;
      const { status, text } = await postGraphQL(opened.gateway, query);
      return [status, comparable(text), [...calls]];
    };
    const first = await send();
    for (let repeat = 0; repeat < 4; repeat++) expect(await send()).toEqual(first);
  });

  it('makes its writes one after another every time', async () => {
    const builtin = await openBuiltin();
    const events: string[] = [];
    const createPet: typeof builtin.createPet = async (caller, pet, write) => {
      events.push(`${pet.name} begins`);
      // Long enough for another to begin.
      await setImmediate();
      events.push(`${pet.name} ends`);
      return builtin.createPet(caller, pet, write);
    };
    await using opened = await openGateway({ petStore: { ...builtin, createPet } });
    const fields = ['a', 'b'].map(
      (name) => `${name}: addPet(input: { name: "${name}", categoryId: 1 }) { id }`,
    );
    for (let repeat = 0; repeat < 3; repeat++) {
      expect(
        await postGraphQL(opened.gateway, `mutation { ${fields.join(' ')} }`),
      ).not.toHaveProperty('errors');
      expect(events.splice(0)).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    }
  });
});

describe('a variable that is null for the condition of', () => {
  const add = (selection: string) =>
    `mutation ($no: Boolean = false) { addPet(input: { name: "Rex", categoryId: 2 }) { ${selection} } }`;
  const fragment = 'fragment F on Pet { name @skip(if: $no) }';
  const defer = '... @defer(if: $no) { orders }';

  it.each([
    ['@skip', add('id @skip(if: $no)')],
    ['@include', add('id @include(if: $no)')],
    ['an inline fragment', add('id ... @skip(if: $no) { name }')],
    ['a fragment', `${add('id ...F @include(if: $no)')} ${fragment}`],
    ['a field of a fragment', `${add('id ...F')} ${fragment}`],
    ['a deferred field', add('id ... @defer { name @skip(if: $no) }')],
    ['@defer', add('id ... @defer(if: $no) { name }')],
    ['@defer at the root', `query ($no: Boolean = true) { pets { id } ${defer} }`],
    ['@defer in a list', 'query ($no: Boolean) { pets { id ... @defer(if: $no) { name } } }'],
    ['@defer by default', `query ($no: Boolean = null) { pets { id } ${defer} }`],
  ])('%s is refused before any call, whole or in parts', async (_, query) => {
    const { petStore, calls } = recording(await openBuiltin());
    await using opened = await openGateway({ petStore });
    const given = query.includes('= null') ? {} : { no: null };
    const errors = [
      {
        message: 'Expected true or false for $no, received null.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ];
    for (const accept of ['', 'multipart/mixed, ', 'text/event-stream, ']) {
      for (let time = 0; time < 3; time++) {
        const headers = { ...withKey, accept: `${accept}application/json` };
        const refused = await postGraphQL(opened.gateway, query, given, headers);
        expect([accept, refused.data, refused]).toMatchObject([accept, undefined, { errors }]);
      }
    }
    expect(await opened.execute(query, given, withKey)).toMatchObject({ errors });
    expect(calls).toEqual([]);
    if (!query.includes('= false')) return;
    expect(await postGraphQL(opened.gateway, query, {})).not.toHaveProperty('errors');
    expect(calls).toHaveLength(1);
  });

  it('is reported with what else is wrong', async () => {
    await using opened = await openGateway();
    const query =
      'query ($no: Boolean!, $limit: Int) { pets(limit: $limit) @skip(if: $no) { id } }';
    const { errors } = await postGraphQL(opened.gateway, query, { no: null, limit: 5000 });
    expect(errors?.[0]?.extensions?.['issues']).toMatchObject([
      { path: ['no'] },
      { path: ['limit'], message: 'Expected an integer from 1 to 100, received 5000.' },
    ]);
  });
});
