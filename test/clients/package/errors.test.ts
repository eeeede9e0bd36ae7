import type { CombinedGraphQLErrors } from '@apollo/client';
import { CombinedError } from '@urql/core';
import { GraphQLError } from 'graphql';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { GetPetDocument, ListPetsDocument } from '../../../packages/client/src/documents.ts';
import {
  type FieldErrorCode,
  type GatewayError,
  type GatewayErrorCode,
  gatewayErrorCodes,
  httpStatusOf,
  isGatewayError,
  type RestErrorBody,
  type WriteOutcome,
} from '../../../packages/client/src/errors.ts';
import { persistedHash } from '../../../packages/client/src/persisted-hash.ts';
import type * as contract from '../../../src/contract/error.ts';
import { ErrorResponse } from '../../../src/contract/error.ts';
import { openGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';

type Failures = Omit<typeof contract, 'PetStoreError' | 'isShown' | 'withOutcome'>;

/** The codes of field errors: those of all failures, and that of data that is left out. */
type ServerErrorCode = InstanceType<Failures[keyof Failures]>['code'] | 'RESPONSE_TOO_LARGE';

// Checked by the compiler, and only there.
expectTypeOf<FieldErrorCode>().toEqualTypeOf<ServerErrorCode>();
expectTypeOf<WriteOutcome>().toEqualTypeOf<contract.WriteOutcome>();
expectTypeOf<GatewayError['extensions']['code']>().toEqualTypeOf<GatewayErrorCode>();
expectTypeOf<GatewayError<'UPSTREAM_TIMEOUT'>['extensions']>().not.toHaveProperty('status');

const limited = {
  message: 'Slow down.',
  extensions: { code: 'RATE_LIMITED', status: 429, retryAfterMs: 100 },
};

describe('isGatewayError', () => {
  it('distinguishes the errors of real responses', async () => {
    await using opened = await openGateway();
    const { errors } = await postGraphQL(opened.gateway, GetPetDocument, { id: '404404' });
    const [error] = errors ?? [];
    expect(isGatewayError(error)).toBe(true);
    expect(isGatewayError(error, 'FORBIDDEN', 'NOT_FOUND')).toBe(true);
    expect(isGatewayError(error, 'FORBIDDEN')).toBe(false);
    if (!isGatewayError(error, 'NOT_FOUND')) throw new Error('Not narrowed.');
    expectTypeOf(error.extensions.status).toEqualTypeOf<number>();
    expectTypeOf(error.extensions.error).toEqualTypeOf<RestErrorBody | undefined>();
    expect(error.extensions).toEqual({
      code: 'NOT_FOUND',
      status: 404,
      error: { code: 'pet_not_found', message: error.message, status: 404 },
      requestId: expect.any(String),
    });
  });

  it('accepts the error objects of client libraries and plain entries of errors[]', () => {
    const { message, extensions } = limited;
    expect(isGatewayError(new GraphQLError(message, { extensions }), 'RATE_LIMITED')).toBe(true);
    expect(isGatewayError(limited, 'RATE_LIMITED')).toBe(true);
  });

  it.each([
    undefined,
    null,
    'NOT_FOUND',
    {},
    new Error('No connection.'),
    new GraphQLError('From another server.', { extensions: { code: 'TEAPOT' } }),
    { extensions: { code: 'toString' } },
    { extensions: { code: 404 } },
  ])('returns false for values that are not gateway errors: %s', (error) => {
    expect(isGatewayError(error)).toBe(false);
  });

  it('narrows an entry of Apollo Client again, for a switch', () => {
    expect.assertions(1);
    for (const entry of [limited] as CombinedGraphQLErrors['errors']) {
      if (isGatewayError(entry, 'BAD_USER_INPUT')) entry.extensions.issues satisfies unknown;
      if (!isGatewayError(entry)) continue;
      switch (entry.extensions.code) {
        case 'RATE_LIMITED':
          expectTypeOf(entry.extensions.retryAfterMs).toEqualTypeOf<number | undefined>();
          expect(entry.extensions.retryAfterMs).toBe(100);
      }
    }
  });

  it('narrows an entry of urql again, for a switch', () => {
    expect.assertions(1);
    const { graphQLErrors } = new CombinedError({ graphQLErrors: [limited] });
    for (const entry of graphQLErrors) {
      if (isGatewayError(entry, 'BAD_USER_INPUT')) entry.extensions.issues satisfies unknown;
      if (!isGatewayError(entry)) continue;
      switch (entry.extensions.code) {
        case 'RATE_LIMITED':
          expectTypeOf(entry.extensions.retryAfterMs).toEqualTypeOf<number | undefined>();
          expect(entry.extensions.retryAfterMs).toBe(100);
      }
    }
  });

  it('narrows an entry of a fetched response again, for a switch', () => {
    expect.assertions(1);
    for (const entry of [limited] as { readonly message: string; readonly extensions?: object }[]) {
      if (isGatewayError(entry, 'BAD_USER_INPUT')) entry.extensions.issues satisfies unknown;
      if (!isGatewayError(entry)) continue;
      switch (entry.extensions.code) {
        case 'RATE_LIMITED':
          expectTypeOf(entry.extensions.retryAfterMs).toEqualTypeOf<number | undefined>();
          expect(entry.extensions.retryAfterMs).toBe(100);
      }
    }
  });
});

describe('httpStatusOf', () => {
  it('returns the status for a server that passes the error on', async () => {
    await using opened = await openGateway();
    const { errors } = await postGraphQL(opened.gateway, GetPetDocument, { id: '404404' });
    expect(httpStatusOf(errors?.[0])).toBe(404);
    expect(httpStatusOf({ extensions: { code: 'OVERLOADED' } })).toBe(503);
    expect(httpStatusOf({ extensions: { code: 'toString' } })).toBe(500);
    expect(httpStatusOf(undefined)).toBe(500);
  });

  it('returns a status for each code, which is 500 for a fault of the server itself', () => {
    const statuses = gatewayErrorCodes.map((code) => [
      code,
      httpStatusOf({ extensions: { code } }),
    ]);
    const faults = gatewayErrorCodes.map((code) => [code, 500]);
    const ofRest = Array.from({ length: 100 }, (_, index) => {
      const { code, status } = new ErrorResponse(400 + index, '');
      return [code, status];
    });
    expect(Object.fromEntries(statuses)).toEqual({
      ...Object.fromEntries(faults),
      ...Object.fromEntries(ofRest),
      BAD_USER_INPUT: 400,
      IDEMPOTENCY_KEY_REUSED: 422,
      UNAUTHENTICATED: 401,
      FORBIDDEN: 403,
      NOT_FOUND: 404,
      CONFLICT: 409,
      RATE_LIMITED: 429,
      NOT_CONFIGURED: 501,
      UPSTREAM_ERROR: 502,
      UPSTREAM_TIMEOUT: 504,
      UPSTREAM_UNAVAILABLE: 503,
      UPSTREAM_INVALID_RESPONSE: 502,
      OVERLOADED: 503,
      GATEWAY_CLOSED: 503,
    });
  });
});

describe('persistedHash', () => {
  it('returns the hash that codegen wrote into the document', () => {
    expect(persistedHash(ListPetsDocument)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('throws for a document without a hash', () => {
    expect(() => persistedHash({ kind: 'Document', definitions: [] } as never)).toThrow(
      /^Expected a document generated with presetConfig\.persistedDocuments/,
    );
  });
});
