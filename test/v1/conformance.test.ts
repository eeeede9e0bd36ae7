import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { openPetStore } from '../../src/backends/open.ts';
import { describePetStore } from '../backends/describe-pet-store.ts';
import { apiKey, startGateway } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';
import { readOpenApi } from '../support/openapi.ts';
import { anyRequests } from '../support/openapi-requests.ts';
import { startResponseValidator } from '../support/response-validator.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

vi.setConfig({ testTimeout: 30_000 });

describePetStore('REST backend → validating proxy → /v1 → SQLite', async () => {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startGateway());
  const validator = stack.use(await startResponseValidator(service.url));
  const petStore = await openPetStore(
    {
      kind: 'rest',
      baseUrl: new URL(`${validator.url}/v1`),
      messagesBaseUrl: new URL(`${validator.url}/quickstart/`),
      timeoutMs: 10_000,
    },
    quiet,
  );
  const opened = stack.move();
  return {
    petStore,
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      const { responses, problems } = await validator.result();
      await opened[Symbol.asyncDispose]();
      expect(responses).toBeGreaterThan(0);
      expect(problems).toEqual([]);
    },
  };
});

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
