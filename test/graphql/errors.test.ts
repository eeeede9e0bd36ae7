import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  BackendUnavailableError,
  ErrorResponse,
  RefusedStatementError,
} from '../../src/contract/error.ts';
import { asUnknown } from '../../src/writes/result.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';

/** The response when the backend throws this value for `orders` and for writes. */
async function respondTo(thrown: unknown, query = '{ pets(limit: 1) { id } orders }') {
  const petStore = await openBuiltin();
  const fail = async () => {
    throw thrown;
  };
  await using opened = await openGateway({
    petStore: { ...petStore, listOrders: fail, createPet: fail },
  });
  const response = await postGraphQL(opened.gateway, query);
  return { ...response, logged: opened.logged };
}

const errorResponse = (status: number) =>
  ErrorResponse.of({ code: 'its_code', message: 'Its words.', status });

describe('field errors', () => {
  it.each([
    [400, 'BAD_USER_INPUT'],
    [409, 'CONFLICT'],
    [418, 'UPSTREAM_ERROR'],
    [410, 'UPSTREAM_ERROR'],
  ])('map the REST status %i to %s and include the Error body', async (status, code) => {
    const { errors, data, logged } = await respondTo(errorResponse(status));
    expect(data).toEqual({ pets: [{ id: '1' }], orders: null });
    expect(errors).toEqual([
      {
        message: 'Its words.',
        locations: [{ line: 1, column: 25 }],
        path: ['orders'],
        extensions: {
          code,
          status,
          error: { code: 'its_code', message: 'Its words.', status },
          requestId: expect.any(String),
        },
      },
    ]);
    expect(logged).toEqual([]);
  });

  it.each([
    new TypeError('secret at /srv/app/index.js'),
    new DOMException('secret', 'AbortError'),
    new DOMException('secret', 'TimeoutError'),
    'secret',
    { message: 'secret' },
    undefined,
  ])('are masked and logged once when they are unexpected: %s', async (thrown) => {
    const { errors, data, text, logged, headers } = await respondTo(thrown);
    expect(text).not.toMatch(/secret|\.js|stack/);
    expect(data).toEqual({ pets: [{ id: '1' }], orders: null });
    expect(errors).toMatchObject([
      {
        message: 'Internal error of the gateway. Include the requestId when you report it.',
        path: ['orders'],
        extensions: {
          code: 'INTERNAL_SERVER_ERROR',
          requestId: headers.get('x-request-id'),
        },
      },
    ]);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({
      level: 'error',
      requestId: headers.get('x-request-id'),
    });
  });
});

describe('the message of the error of a write', () => {
  const write = 'mutation { addPet(input: { name: "a", categoryId: 1 }) { id } }';
  const mayBeDone = ' The write may have been carried out.';

  it.each([
    ['a server error', errorResponse(500), 'UNKNOWN'],
    ['a refusal', errorResponse(401), 'NOT_DONE'],
    ['a refusal of what may have been done before', asUnknown(errorResponse(401)), 'UNKNOWN'],
    ['a loss', new BackendUnavailableError('Its words.'), 'UNKNOWN'],
    ['an unexpected error', new TypeError('Its words.'), 'UNKNOWN'],
    ['a statement that has done nothing', new RefusedStatementError('Its words.'), 'NOT_DONE'],
  ])('says that it may have been carried out, or not: %s', async (_, thrown, outcome) => {
    const { errors = [] } = await respondTo(thrown, write);
    expect(errors).toMatchObject([{ extensions: { outcome } }]);
    expect(errors[0]?.message.endsWith(mayBeDone)).toBe(outcome === 'UNKNOWN');
    const { text } = await respondTo(thrown);
    expect(text).not.toContain(mayBeDone);
  });

  it.each(['SOLD', undefined])('is that of a GraphQLError with the code %s', async (code) => {
    const thrown = new GraphQLError('Its words.', { extensions: { ...(code && { code }) } });
    const { errors } = await respondTo(thrown, write);
    const extensions = { code: code ?? 'INTERNAL_SERVER_ERROR', outcome: 'UNKNOWN' };
    expect(errors).toMatchObject([{ message: 'Its words.', extensions }]);
  });
});

describe('request errors', () => {
  it('use the request id of the client if it is well-formed', async () => {
    await using opened = await openGateway();
    const send = (id: string) =>
      postGraphQL(opened.gateway, '{ nope }', {}, { 'x-request-id': id });
    const given = await send('checkout-42.a:b');
    expect(given.headers.get('x-request-id')).toBe('checkout-42.a:b');
    expect(given.errors?.[0]?.extensions['requestId']).toBe('checkout-42.a:b');
    const generated = await send('<script>');
    expect(generated.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
