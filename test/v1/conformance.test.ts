import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { openPetStore } from '../../src/backends/open.ts';
import { describePetStore } from '../backends/describe-pet-store.ts';
import { apiKey, startGateway } from '../support/gateway.ts';
import { startJudge } from '../support/judge.ts';
import { quiet } from '../support/log.ts';
import { readOpenApi } from '../support/openapi.ts';
import { anyRequests } from '../support/openapi-requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

vi.setConfig({ testTimeout: 30_000 });

describePetStore('REST backend → validating proxy → /v1 → SQLite', async () => {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startGateway());
  const judge = stack.use(await startJudge(service.url));
  const petStore = await openPetStore(
    {
      kind: 'rest',
      baseUrl: new URL(`${judge.url}/v1`),
      messagesBaseUrl: new URL(`${judge.url}/quickstart/`),
      timeoutMs: 10_000,
    },
    quiet,
  );
  const opened = stack.move();
  return {
    petStore,
    async [Symbol.asyncDispose]() {
      await petStore[Symbol.asyncDispose]();
      const { responses, problems } = await judge.verdict();
      await opened[Symbol.asyncDispose]();
      expect(responses).toBeGreaterThan(0);
      expect(problems).toEqual([]);
    },
  };
});

describe("Redocly's validating proxy", () => {
  it('reports no problem in the responses to generated requests', async () => {
    await using service = await startGateway();
    await using judge = await startJudge(service.url);
    const { operations } = await readOpenApi();
    const requests = fc.oneof(...operations.map((operation) => anyRequests(operation, apiKey)));
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, method, headers, body }) => {
        const init = { method, headers, ...(body !== undefined && { body }) };
        const response = await fetch(`${judge.url}${path}`, init);
        await response.text();
        expect(response.status).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
    expect(await judge.verdict()).toEqual({ responses: 300, problems: [] });
  });

  it('reports responses that violate the OpenAPI document', async () => {
    await using service = await startUpstream((_, response) =>
      sendJson(response, 200, '[{"id":"1","name":"Rex"}]'),
    );
    await using judge = await startJudge(service.url);
    await (await fetch(`${judge.url}/v1/pets`)).text();
    expect(await judge.verdict()).toEqual({
      responses: 1,
      problems: [
        'GET /v1/pets 200: Response is missing required field "[0].categoryId".',
        'GET /v1/pets 200: Response field "[0].id" must be integer.',
      ],
    });
  });
});
