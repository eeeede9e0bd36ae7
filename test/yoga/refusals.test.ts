import { describe, expect, it } from 'vitest';
import { gatewayErrorCodes } from '../../packages/client/src/errors.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { apiKey, startGateway } from '../support/gateway.ts';

const query = 'query ListPets { pets(limit: 1) { id } }';
const mutation = 'mutation { sendMessage(message: "Hello") { id } }';
const json = { 'content-type': 'application/json' };

const post = (body: unknown, headers: Record<string, string> = json): RequestInit => ({
  method: 'POST',
  headers,
  body: JSON.stringify(body),
});
const get = (text: string) => `?${new URLSearchParams({ query: text })}`;

/** What frontends try: the request, and the status, code and message of its response. */
const refusals: readonly (readonly [
  name: string,
  sent: string | RequestInit,
  status: number,
  code: string,
  message: string,
])[] = [
  [
    'a batch of operations',
    post([{ query }, { query }]),
    400,
    'BAD_REQUEST',
    'body: expected a JSON object, received an array. Send each operation in its own request.',
  ],
  [
    'a subscription',
    post({ query: 'subscription { pets { id } }' }),
    200,
    'GRAPHQL_VALIDATION_FAILED',
    'Expected a query or a mutation, received a subscription. Repeat a query at an interval instead.',
  ],
  [
    'a form',
    { method: 'POST', body: new URLSearchParams({ query }) },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    'content-type: expected application/json in UTF-8, received "application/x-www-form-urlencoded;charset=UTF-8". Send the body as a JSON object: forms and file uploads are not accepted.',
  ],
  [
    'GET with a mutation',
    get(mutation),
    405,
    'BAD_REQUEST',
    'Expected POST for a mutation, received GET. Send it as the JSON body of a POST.',
  ],
  [
    'a method that it does not have',
    { ...post({ query }), method: 'PUT' },
    405,
    'METHOD_NOT_ALLOWED',
    'Expected GET, HEAD or POST, received PUT.',
  ],
  [
    'a client that accepts nothing that it can send',
    post({ query }, { ...json, accept: 'text/plain' }),
    406,
    'NOT_ACCEPTABLE',
    'accept: expected application/json, application/graphql-response+json, text/event-stream or multipart/mixed, received "text/plain".',
  ],
  ...['{ __schema { queryType { name } } }', '{ __type(name: "Pet") { name } }'].map(
    (introspection) =>
      [
        `introspection: ${introspection}`,
        post({ query: introspection }),
        200,
        'GRAPHQL_VALIDATION_FAILED',
        'Expected fields of the store, received introspection, which is off. Use the schema of petstore-gateway-client, or set INTROSPECTION=on.',
      ] as const,
  ),
  [
    'an operation name in the wrong case',
    post({ query, operationName: 'listPets' }),
    400,
    'OPERATION_RESOLUTION_FAILURE',
    'operationName: expected "ListPets", received "listPets". Upper and lower case differ.',
  ],
  [
    'no operation name for a document with several',
    post({ query: `${query} query Other { __typename }` }),
    400,
    'OPERATION_RESOLUTION_FAILURE',
    'operationName: expected "ListPets" or "Other", received none. Upper and lower case differ.',
  ],
  [
    'an operation name for an operation without one',
    post({ query: '{ __typename }', operationName: 'ListPets' }),
    400,
    'OPERATION_RESOLUTION_FAILURE',
    'operationName: expected none, received "ListPets". Upper and lower case differ.',
  ],
  [
    'variables as a string',
    post({ query, variables: '{"limit":1}' }),
    400,
    'BAD_REQUEST',
    'variables: expected a JSON object, received a string. Send the object itself, not its text in quotes.',
  ],
];

const service = disposeAfterAll(await startGateway({ introspection: false }));

describe('the gateway refuses', () => {
  it.each(refusals)('%s', async (_, sent, status, code, message) => {
    const [search, init] = typeof sent === 'string' ? [sent, {}] : ['', sent];
    const headers = { ...init.headers, authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${service.url}/graphql${search}`, { ...init, headers });
    expect(await response.json()).toMatchObject({
      errors: [
        {
          message,
          extensions: { code, requestId: response.headers.get('x-request-id') },
        },
      ],
    });
    expect(response.status).toBe(status);
    expect(gatewayErrorCodes).toContain(code);
  });
});
