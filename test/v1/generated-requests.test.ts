import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzed } from '../support/fuzzed.ts';
import { apiKey, openGateway } from '../support/gateway.ts';
import { readOpenApi } from '../support/openapi.ts';
import { violationsOf } from '../support/violations.ts';
import { anyRequests, type PlannedRequest, validRequests } from './openapi-requests.ts';

const { operations } = await readOpenApi();

describe.each(operations)('generated requests to $method $path', (operation) => {
  it('return a success status of the document if they are valid', async () => {
    await using opened = await openGateway();
    // A valid request can still get 404, because the pet may not exist.
    const expected = Object.keys(operation.responses)
      .map(Number)
      .filter((status) => status < 300 || status === 404);
    await fc.assert(
      fc.asyncProperty(validRequests(operation, apiKey), async (planned) => {
        const response = await opened.gateway(toRequest(planned));
        expect(expected).toContain(response.status);
      }),
      fuzzed(50),
    );
  });

  it('return a response of the document and never 500, whether valid or not', async () => {
    await using opened = await openGateway();
    await fc.assert(
      fc.asyncProperty(anyRequests(operation, apiKey), async (planned) => {
        const request = toRequest(planned);
        const response = await opened.gateway(request);
        expect(response.status).toBeLessThan(500);
        expect(await violationsOf(request, response)).toEqual([]);
      }),
      fuzzed(100),
    );
  });
});

function toRequest({ method, path, headers, body }: PlannedRequest): Request {
  return new Request(`http://gateway.test${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
}
