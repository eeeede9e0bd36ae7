import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RestPetStoreOptions } from '../../../src/petstore/rest.ts';
import { owning } from '../../support/dispose.ts';
import { callWith } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { openMountable, openRest } from '../../support/rest-gateway.ts';
import { type SeenRequest, sendJson, startUpstream } from '../../support/upstream.ts';

async function startRest(
  respond: (request: SeenRequest, response: ServerResponse) => void,
  optionsOf: (url: string) => Partial<RestPetStoreOptions> = () => ({}),
) {
  const upstream = await startUpstream(respond);
  const petStore = openRest(upstream.url, optionsOf(upstream.url));
  return {
    petStore,
    seen: upstream.seen,
    ...owning(upstream, petStore),
  };
}

const pet = '{"id":1,"name":"Rex","categoryId":2}';

describe('calls to the REST service', () => {
  it.each([
    [{}, '/v1/pets'],
    [{ limit: 5 }, '/v1/pets?limit=5'],
    [{ status: 'sold' }, '/v1/pets?status=sold'],
    [{ limit: 5, status: 'sold' }, '/v1/pets?limit=5&status=sold'],
  ] as const)('have only the given parameters: %j', async (query, url) => {
    await using rest = await startRest((_, response) => sendJson(response, 200, '[]'));
    await rest.petStore.listPets(callWith(), query);
    expect(rest.seen).toMatchObject([{ method: 'GET', url }]);
  });

  it.each(['/v1', '/v1/', '/deep/er/v1'])('include the path of the base URL: %s', async (path) => {
    const optionsOf = (url: string) => ({ baseUrl: new URL(url + path) });
    await using rest = await startRest((_, response) => sendJson(response, 200, pet), optionsOf);
    await rest.petStore.getPet(callWith(), '-9223372036854775808');
    expect(rest.seen[0]?.url).toBe(`${path.replace(/\/$/, '')}/pets/-9223372036854775808`);
  });

  it('forward the Authorization header and the request id, and accept no content encoding', async () => {
    await using rest = await startRest((_, response) => sendJson(response, 200, '[]'));
    const call = Object.assign(callWith('a.b~c+/=='), { authorization: 'bearer a.b~c+/==' });
    await rest.petStore.listPets(call, {});
    await rest.petStore.createPet(call, { name: 'Rex', categoryId: '1' }).catch(() => {});
    expect(rest.seen[1]?.headers['content-type']).toBe('application/json');
    expect(rest.seen[0]?.headers).toMatchObject({
      authorization: 'bearer a.b~c+/==',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'x-request-id': 'test',
    });
  });

  it.each([
    ['getPet', 'application/json', '{"code":"a","message":"No such pet.","status":404}', true],
    ['getPet', 'text/html', '<h1>Not found</h1>', false],
    ['listOrders', 'application/json', '{"code":"a","message":"b","status":404}', false],
  ] as const)('accept a key whose %s gets a 404 with %s only if the contract has it: %s', async (id, type, body, isAccepted) => {
    await using rest = await startRest((_, response) => {
      response.writeHead(404, { 'content-type': type }).end(body);
    });
    const caller = callWith('key');
    await expect(rest.petStore[id](caller, '1' as never)).rejects.toThrow();
    expect(caller.key.isAccepted).toBe(isAccepted);
  });

  it('accept a key by a success of the contract only, until it gets a 401 by any call', async () => {
    let status = 200;
    await using rest = await startRest((_, response) => sendJson(response, status, '[]'));
    const { key } = callWith('key');
    const other = { method: 'GET', operation: 'GET /other', path: '/other' } as const;
    const list = () => rest.petStore.listPets(callWith('key'), {});
    for (const refused of [list, () => rest.petStore.send(callWith('key'), other)]) {
      status = 200;
      await rest.petStore.send(callWith('key'), other);
      expect(key.isAccepted).toBe(false);
      await list();
      for (status of [403, 404, 500]) await expect(list()).rejects.toThrow();
      expect(key.isAccepted).toBe(true);
      status = 401;
      await expect(refused()).rejects.toThrow();
      expect(key.isAccepted).toBe(false);
    }
  });

  it('fail without MESSAGES_BASE_URL if they send a message', async () => {
    await using opened = await openMountable();
    const { gateway, logged, upstream } = opened;
    const query = 'mutation { sendMessage(message: "Hi") { id } }';
    const { text, errors } = await postGraphQL(gateway, query);
    const message = 'This gateway is not configured to send messages.';
    const extensions = { code: 'NOT_CONFIGURED', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ message, path: ['sendMessage'], extensions }]);
    expect(text).not.toContain('MESSAGES_BASE_URL');
    expect(logged.join()).toContain('MESSAGES_BASE_URL is not set');
    expect(upstream.seen).toEqual([]);
  });
});
