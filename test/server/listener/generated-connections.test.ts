import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BodyReader } from '../../../src/http/body.ts';
import type { HttpResponse } from '../../../src/http/message.ts';
import { keyOf } from '../../../src/limits/key.ts';
import { fuzzed, fuzzTimeout } from '../../support/fuzzed.ts';
import { startGateway } from '../../support/gateway.ts';
import { httpRequest } from '../../support/http-request.ts';
import { connections, type PlannedRequest } from './generate-connection.ts';
import { parseResponses, type ReceivedResponse, sendParts } from './raw-connection.ts';

it(
  'sends the responses of the handler in order, for all valid encodings of requests',
  async () => {
    await using service = await startGateway({ corsOrigins: ['https://shop.example'] });

    /** Returns the response of the handler to the request as plain data, without sockets. */
    async function expected({ method, target, headers, body }: PlannedRequest) {
      const { pathname, search } = target.startsWith('/')
        ? { pathname: target.split('?')[0] ?? '', search: target.slice(target.indexOf('?')) }
        : new URL(target);
      const reader = new BodyReader(keyOf(headers['authorization']), service.byteLimits.bodyBytes);
      reader.push(Buffer.from(body, 'latin1'));
      reader[Symbol.dispose]();
      return comparable(
        method,
        await service.handle(
          httpRequest(pathname, {
            method,
            search: target.includes('?') ? search.slice(1) : '',
            headers,
            body: reader.end(),
          }),
        ),
      );
    }

    await fc.assert(
      fc.asyncProperty(connections, async ({ requests, malformed, parts }) => {
        const methods = requests.map(({ method }) => method);
        const responses = parseResponses(await sendParts(service.url, parts), methods);
        const received = responses.slice(0, requests.length).map(withoutConnection);
        expect(received).toEqual(await Promise.all(requests.map(expected)));
        const more = responses.slice(requests.length);
        expect(more).toHaveLength(malformed === '' ? 0 : 1);
        for (const { status, headers } of more) {
          expect([400, 413, 431]).toContain(status);
          expect(headers['connection']).toBe('close');
        }
      }),
      fuzzed(300),
    );
  },
  fuzzTimeout,
);

function comparable(method: string, { status, headers, body }: HttpResponse): ReceivedResponse {
  const bytes = Buffer.from(body);
  const isEmpty = status === 204 || status === 304;
  return {
    status,
    headers: isEmpty ? headers : { ...headers, 'content-length': String(bytes.length) },
    body: method === 'HEAD' || isEmpty ? '' : bytes.toString('latin1'),
  };
}

/** Removes the headers that the server adds for the connection. */
function withoutConnection({ status, headers, body }: ReceivedResponse): ReceivedResponse {
  const { date: _, connection: __, 'keep-alive': ___, ...others } = headers;
  return { status, headers: others, body };
}
