import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { apiKey, startGateway } from '../support/gateway.ts';
import { readOpenApi } from '../support/openapi.ts';
import { anyRequests } from '../support/openapi-requests.ts';
import { startResponseValidator } from '../support/response-validator.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

vi.setConfig({ testTimeout: 30_000 });

describe("Redocly's validating proxy", () => {
  it('reports no problem in the responses to generated requests', async () => {
    await using service = await startGateway();
    await using validator = await startResponseValidator(service.url);
    const { operations } = await readOpenApi();
    const requests = fc.oneof(...operations.map((operation) => anyRequests(operation, apiKey)));
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, method, headers, body }) => {
        const init = { method, headers, ...(body !== undefined && { body }) };
        const response = await fetch(`${validator.url}${path}`, init);
        await response.text();
        expect(response.status).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
    expect(await validator.result()).toEqual({ responses: 300, problems: [] });
  });

  it('reports responses that violate the OpenAPI document', async () => {
    await using service = await startUpstream((_, response) =>
      sendJson(response, 200, '[{"id":"1","name":"Rex"}]'),
    );
    await using validator = await startResponseValidator(service.url);
    await (await fetch(`${validator.url}/v1/pets`)).text();
    expect(await validator.result()).toEqual({
      responses: 1,
      problems: [
        'GET /v1/pets 200: Response is missing required field "[0].categoryId".',
        'GET /v1/pets 200: Response field "[0].id" must be integer.',
      ],
    });
  });
});
