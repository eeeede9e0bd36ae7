import { spawnSync } from 'node:child_process';
import { getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { apiKey, openGateway } from '../support/gateway.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { openRest } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

const introspection = { query: getIntrospectionQuery() };
const type = { query: '{ __type(name: "Pet") { name } }' };

async function open() {
  const opened = await openGateway({ introspection: 'keys' });
  async function post(body: object, key?: string) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const request = graphqlRequest('http://gateway.test', body, headers);
    return (await opened.gateway(request)).json();
  }
  return { ...opened, post };
}

/** The locations of directives in the specification of September 2025. */
const releasedLocations = `QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD
  INLINE_FRAGMENT VARIABLE_DEFINITION SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION
  INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT INPUT_FIELD_DEFINITION`.split(/\s+/);

/** Builds a schema from introspection with graphql-core, and prints it. */
const readInPython = `import json, sys
from graphql import build_client_schema, print_schema, validate_schema
schema = build_client_schema(json.load(sys.stdin))
print(validate_schema(schema), print_schema(schema))`;

const python = (script: string, input = '') =>
  spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });

const isGraphqlCore3 = 'import graphql; assert graphql.__version__.startswith("3.")';
const hasGraphqlCore = python(isGraphqlCore3).status === 0;

describe('the result of introspection', () => {
  async function introspect(): Promise<IntrospectionQuery> {
    await using opened = await openGateway();
    const query = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true });
    const response = await opened.gateway(graphqlRequest('http://gateway.test', { query }));
    return (await response.json()).data;
  }

  it('has only directive locations of the released specification', async () => {
    const { directives } = (await introspect()).__schema;
    expect(directives.map(({ name }) => name)).toContain('deprecated');
    const locations = new Set<string>(directives.flatMap(({ locations }) => locations));
    expect([...locations].filter((one) => !releasedLocations.includes(one))).toEqual([]);
  });

  it('names the specifications of the scalars', async () => {
    const { types } = (await introspect()).__schema;
    const urls = types.flatMap((one) =>
      one.kind === 'SCALAR' && one.specifiedByURL ? [[one.name, one.specifiedByURL]] : [],
    );
    expect(Object.fromEntries(urls)).toEqual({
      DateTime: 'https://www.iso.org/standard/70907.html',
      JSON: 'https://www.rfc-editor.org/rfc/rfc8259',
    });
  });

  it.skipIf(!hasGraphqlCore)('is read by graphql-core 3 for Python', async () => {
    const { status, stdout, stderr } = python(readInPython, JSON.stringify(await introspect()));
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\[\] /);
    expect(stdout).toContain('pet(');
  });
});

describe('INTROSPECTION=keys', () => {
  it.each([introspection, type])('answers accepted keys only: %#', async (body) => {
    await using opened = await open();
    for (const key of [undefined, 'wrong']) {
      const { data, errors } = await opened.post(body, key);
      expect(data).toBeUndefined();
      expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    }
    // The first request with this key, which the backend has not seen before.
    const { data, errors } = await opened.post(body, apiKey);
    expect(errors).toBeUndefined();
    expect(data).toHaveProperty(body === type ? '__type.name' : '__schema.types');
    // A document that is cached, and a key that was accepted.
    expect((await opened.post(body)).errors).toHaveLength(1);
    expect(await opened.post(body, apiKey)).toEqual({ data });
  });

  it('needs no key for other operations without calls, and suggests no names', async () => {
    await using opened = await open();
    expect(await opened.post({ query: '{ __typename }' })).toEqual({
      data: { __typename: 'Query' },
    });
    const { errors } = await opened.post({ query: '{ pet { id } pest { id } }' });
    expect(JSON.stringify(errors)).toContain('pest');
    expect(JSON.stringify(errors)).not.toContain('Did you mean');
  });

  it('answers no key that the backend has accepted before, and then refused', async () => {
    let status = 200;
    await using upstream = await startUpstream((_, response) => sendJson(response, status, '[]'));
    await using opened = await openGateway({
      petStore: openRest(upstream.url),
      introspection: 'keys',
    });
    const send = async () => {
      const request = graphqlRequest('http://gateway.test', type, { authorization: 'Bearer k' });
      return (await opened.gateway(request)).json();
    };
    expect(await send()).toEqual({ data: { __type: { name: 'Pet' } } });
    status = 401;
    expect((await send()).data).toBeUndefined();
  });

  it('takes the check of a key from its rate', async () => {
    await using opened = await openGateway({ introspection: 'keys', rateLimitPerKey: 1 });
    const headers = { authorization: 'Bearer wrong', accept: 'application/json' };
    const send = async () =>
      (await opened.gateway(graphqlRequest('http://gateway.test', type, headers))).status;
    expect([await send(), await send()]).toEqual([200, 429]);
  });
});
