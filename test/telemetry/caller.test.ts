import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { openAdministration } from '../../src/petstore/open.ts';
import { createFolder } from '../support/folder.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL } from '../support/graphql.ts';
import { quiet } from '../support/log.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { startTraced } from './traced.ts';

const folder = createFolder();

/** Creates a database with an account and one key. */
async function createAccount() {
  const databaseUrl = `file:${folder}/${randomUUID()}.db`;
  await using administration = await openAdministration(databaseUrl, quiet.log);
  await administration.keys.createAccount('acme');
  const { id, key } = await administration.keys.create('acme');
  return {
    databaseUrl,
    id,
    key,
    revoke: async () => {
      await using reopened = await openAdministration(databaseUrl, quiet.log);
      await reopened.keys.revoke(id);
    },
  };
}

describe('the caller of the built-in backend', () => {
  it('is in the log line and the trace of each request, without the key', async () => {
    const account = await createAccount();
    const { databaseUrl, id, key } = account;
    await using gateway = await startTraced({ DATABASE_URL: databaseUrl, DEMO: 'off' });
    const headers = { authorization: `Bearer ${key}` };
    const post = (query: string, more = {}) =>
      fetch(graphqlRequest(gateway.url, { query }, { ...headers, ...more }));
    await post('{ pets { id } }');
    await post('{ pets { id } }', { 'x-petstore-explain': '1' });
    await fetch(`${gateway.url}/v1/pets`, { headers });
    await fetch(`${gateway.url}/v1/pets`, { headers: { authorization: 'Bearer unknown-one' } });
    await post('{ __typename }');
    const { text } = await gateway.metrics.scrape();
    const spans = await gateway.spans();

    const known = { account: 'acme', keyId: id };
    const lines = gateway.requests();
    expect(lines).toMatchObject([known, known, known, { status: 401 }, {}]);
    for (const line of lines.slice(3)) {
      expect(line).not.toHaveProperty('account');
      expect(line).not.toHaveProperty('keyId');
    }
    const accounts = spans.flatMap(({ attributes }) =>
      attributes.filter((one) => /^petstore\.(?:account|key_id)$/.test(one.key)),
    );
    const attributes = [
      { key: 'petstore.account', value: { stringValue: 'acme' } },
      { key: 'petstore.key_id', value: { stringValue: id } },
    ];
    expect(accounts).toEqual([...attributes, ...attributes, ...attributes]);
    expect(gateway.lines.join() + JSON.stringify(spans)).not.toContain(key);
    expect(text).not.toMatch(new RegExp(`acme|${id}`));
  });

  it('is known for a revoked key', async () => {
    const account = await createAccount();
    await using opened = await openGateway({ petStore: await openBuiltin(account.databaseUrl) });
    const authorization = `Bearer ${account.key}`;
    const list = () => postGraphQL(opened.gateway, '{ pets { id } }', {}, { authorization });
    await list();
    const caller = { account: 'acme', keyId: account.id };
    const callers = opened.requests;
    expect(callers()).toMatchObject([caller]);
    await account.revoke();
    await vi.waitFor(
      async () => expect(await list()).toMatchObject({ errors: [{ extensions: { status: 401 } }] }),
      { interval: 100 },
    );
    expect(callers().at(-1)).toMatchObject({ ...caller, codes: ['UNAUTHENTICATED'] });
  });
});

describe('the caller of a REST service', () => {
  it('is logged as a hash with LOG_CREDENTIAL=hash, the same in every gateway', async () => {
    const secret = 'a-secret-of-the-operator';
    await using upstream = await startUpstream((_, response) => sendJson(response, 200, '[]'));
    await using gateway = await startTraced({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      LOG_CREDENTIAL: 'hash',
      LOG_CREDENTIAL_SECRET: secret,
    });
    const keys = ['demo-key', 'wrong-key'];
    for (const key of keys) {
      const headers = { authorization: `Bearer ${key}` };
      await fetch(`${gateway.url}/graphql?query={pets{id}}`, { headers });
    }
    const expected = keys.map((key) =>
      createHmac('sha256', secret).update(key).digest('hex').slice(0, 12),
    );
    const credentials = gateway.requests().map(({ credential }) => credential);
    expect(credentials).toEqual(expected);
    const exported = (await gateway.spans())
      .flatMap(({ attributes }) => attributes)
      .filter(({ key }) => key === 'petstore.credential');
    expect(exported.map(({ value }) => value.stringValue)).toEqual(expected);
    expect(gateway.lines.join()).not.toContain(secret);
  });

  it('is not logged by default', async () => {
    await using service = await startRestGateway();
    await postGraphQL(service.gateway, '{ pets { id } }');
    expect(service.requests()[0]).not.toHaveProperty('credential');
  });
});
