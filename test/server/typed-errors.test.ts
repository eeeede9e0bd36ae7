import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import { useTypedErrors } from '../../src/server/plugins/use-typed-errors.ts';

/** What a request is answered when something outside of every resolver throws. */
async function answerTo(thrown: unknown, hook: 'onParams' | 'onExecute') {
  const reported: unknown[] = [];
  const thrower: Plugin = {
    [hook]() {
      throw thrown;
    },
  };
  const yoga = createYoga<{ requestId: string; signal: AbortSignal }>({
    schema: createSchema({ typeDefs: 'type Query { a: String }' }),
    plugins: [thrower, useTypedErrors((error) => reported.push(error))],
    maskedErrors: false,
    logging: false,
  });
  const request = new Request('http://yoga.test/graphql?query={a}');
  const response = await yoga.handleRequest(request, {
    requestId: 'r1',
    signal: request.signal,
  });
  return { status: response.status, body: await response.json(), reported };
}

describe('what is thrown outside of a resolver', () => {
  it.each([
    ['an error', new Error('secret')],
    ['an abort, whose errors Yoga drops', new DOMException('secret', 'AbortError')],
    ['a timeout, whose errors Yoga drops', new DOMException('secret', 'TimeoutError')],
  ])('is answered with one masked error and reported: %s', async (_, thrown) => {
    for (const hook of ['onParams', 'onExecute'] as const) {
      const { body, reported } = await answerTo(thrown, hook);
      expect(body).toEqual({
        errors: [
          {
            message: 'Something went wrong in the gateway. Quote the requestId when you report it.',
            extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'r1' },
          },
        ],
      });
      expect(reported).toHaveLength(1);
    }
  });
});
