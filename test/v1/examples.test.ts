import { describe, expect, it } from 'vitest';
import { apiKey, startGateway } from '../support/gateway.ts';
import { type Operation, readOpenApi } from '../support/openapi.ts';
import { violationsOf } from '../support/violations.ts';

const { operations } = await readOpenApi();

/** Creates the request of the examples. */
function exampleRequest({ method, path, parameters = [], requestBody }: Operation, url: string) {
  const target = new URL(url);
  target.pathname = path;
  for (const { name, in: place, example } of parameters) {
    if (place === 'query') target.searchParams.set(name, String(example));
    else target.pathname = path.replace(`{${name}}`, String(example));
  }
  const body = requestBody && JSON.stringify(requestBody.content['application/json']?.example);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return new Request(target, { method, headers, ...(body && { body }) });
}

const recordsOf = (body: unknown) => (Array.isArray(body) ? body : [body]);

describe.each(operations)('the examples of $operationId', (operation) => {
  const { responses } = operation;

  it.each(Object.entries(responses))('conform to the schema: %s', async (status, {
    content = {},
  }) => {
    for (const [type, { example }] of Object.entries(content)) {
      expect(example).toBeDefined();
      const init = { status: Number(status) || 500, headers: { 'content-type': type } };
      const request = exampleRequest(operation, 'http://gateway.test');
      const response = new Response(JSON.stringify(example), init);
      expect(await violationsOf(request, response)).toEqual([]);
    }
  });

  it('are a request of the demo and its response', async () => {
    await using service = await startGateway();
    const response = await fetch(exampleRequest(operation, service.url));
    expect(response.ok).toBe(true);
    const example = responses[response.status]?.content?.['application/json']?.example;
    const text = await response.text();
    const received = recordsOf(text && JSON.parse(text));
    for (const [index, { id, createdAt, ...record }] of recordsOf(example ?? []).entries()) {
      expect(received[index]).toMatchObject(record);
    }
  });
});
