import { auditServer, serverAudits } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { rawPost, sendRaw, statusesOf } from '../support/raw-http.ts';
import { recording } from '../support/recording.ts';

const { petStore, calls } = recording(await openBuiltin());
const service = disposeAfterAll(await startGateway({ petStore }));

const json = { 'content-type': 'application/json' };
const send = (init: RequestInit, search = '') => fetch(`${service.url}/graphql${search}`, init);
const post = (body: string) => send({ method: 'POST', headers: json, body });
const reading = '"query":"{ __typename }"';
/** Sends both interfaces a body with these headers of the content type. */
async function statusesWith(type: string): Promise<number[]> {
  const headers = `Content-Type: ${type}\r\nConnection: close\r\n`;
  const send = (body: string, path: string) =>
    sendRaw(service.url, rawPost(body, '', path).replace(/Content-Type: .*\r\n/, headers));
  const sent = [`{${reading}}`, '/graphql', '{"name":"x","categoryId":1}', '/v1/pets'] as const;
  const responses = [await send(sent[0], sent[1]), await send(sent[2], sent[3])];
  return responses.flatMap(statusesOf);
}
const writing = 'mutation { addPet(input: { name: "x", categoryId: 1 }) { id } }';

describe('GraphQL over HTTP', () => {
  it('passes every audit of graphql-http', async () => {
    const results = await auditServer({ url: `${service.url}/graphql` });
    expect(results.length).toBe(serverAudits({ url: service.url }).length);
    expect(results.length).toBeGreaterThan(60);
    const failed = results.filter(({ status }) => status !== 'ok');
    expect(failed.map(({ id, name, status }) => `${id} ${status}: ${name}`)).toEqual([]);
  });

  it('refuses another method with 405', async () => {
    const { status, headers } = await send({ method: 'PUT', headers: json, body: `{${reading}}` });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  it.each([
    ['', 'body: expected JSON, received nothing.'],
    ['{\n  "query": 1,\n}', 'body: expected JSON, received other text.'],
    ['{}', 'query: expected the text of a document, received none.'],
    ['{"query":["{pets{id}}"]}', 'query: expected a string, received an array.'],
    [
      `{${reading},"operationName":12345678901234567890}`,
      'operationName: expected a string, received a number.',
    ],
    [
      `{${reading},"variables":1.2345678901234567890}`,
      'variables: expected a JSON object, received a number.',
    ],
    [`{${reading},"extensions":"x"}`, 'extensions: expected a JSON object, received a string.'],
  ])('refuses the body %s with 400', async (body, message) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    const { errors } = await response.json();
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }]);
    expect(errors[0].message.slice(0, message.length)).toBe(message);
    // V8's message would quote the body.
    expect(errors[0].extensions).not.toHaveProperty('originalError');
  });

  it.each([
    '"extensions":{}',
    '"extensions":null',
    '"extensions":{"clientLibrary":{"name":"x","version":"1"}}',
    '"extensions":{"persistedQuery":5}',
    '"id":"1","onError":"NULL"',
    '"extra":null,"":[{}],"__proto__":{"query":"{"},"constructor":1,"Query":5',
  ])('accepts a body with %s', async (members) => {
    const response = await post(`{${reading},${members}}`);
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it.each([
    'application/json; version=1',
    'application/json;;charset=utf-8',
    'application/json ;\tCharset="UTF-8" ; ',
    'application/json; boundary=x; charset=utf8; q=1',
    'application/json; profile="https://x.example/a;b,c;charset=\\"latin1"',
    'application/json\r\nContent-Type: Application/JSON; charset=utf-8',
  ])('accepts JSON of the type %j, also at /v1', async (type) => {
    expect(await statusesWith(type)).toEqual([200, 201]);
  });

  it.each([
    'application/json; charset=latin1',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset="utf-8x"',
    'application/json; "utf-8"',
    'application/jsonp',
    'text/plain; x=application/json',
    'application/json\r\nContent-Type: text/plain',
    'text/plain\r\nContent-Type: application/json',
  ])('refuses a body of the type %j, also at /v1', async (type) => {
    expect(await statusesWith(type)).toEqual([415, 400]);
  });

  it('reads thousands of parameters without backtracking', async () => {
    const many = `application/json${'; '.repeat(4000)}`;
    expect(await statusesWith(many)).toEqual([200, 201]);
    expect(await statusesWith(`${many}"`)).toEqual([415, 400]);
  });

  it('ignores variables and extensions that are null in a URL, but not an operation of that name', async () => {
    const get = async (search: string) => (await send({}, `?query=${search}`)).json();
    const data = { __typename: 'Query' };
    expect(await get('{__typename}&variables=null&extensions=null')).toEqual({ data });
    const two = 'query null{__typename} query two{two:__typename}';
    expect(await get(`${two}&operationName=null`)).toEqual({ data });
    const message = 'variables: expected a JSON object, received an array.';
    expect(await get('{__typename}&variables=[]')).toMatchObject({ errors: [{ message }] });
  });

  it.each([
    [
      'application/graphql-response+json',
      '',
      'query: expected the text of a document, received none.',
    ],
    [
      'application/graphql-response+json',
      '?query=%7B__typename%7D&variables=%7Bbad',
      'variables: expected JSON, received other text.',
    ],
  ])('responds in %s with 400 to a GET with the parameters %j', async (accept, search, message) => {
    const response = await send({ headers: { accept } }, search);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain(accept);
    expect(await response.json()).toMatchObject({ errors: [{ message }] });
  });

  it('makes no call for what any web page could send: forms, plain text, and GET', async () => {
    calls.length = 0;
    const form = new FormData();
    form.set('operations', JSON.stringify({ query: writing }));
    form.set('map', '{}');
    const headers = { authorization: 'Bearer demo-key' };
    for (const body of [new URLSearchParams({ query: writing }), form, writing]) {
      const response = await send({ method: 'POST', headers, body });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }],
      });
    }
    const search = `?${new URLSearchParams({ query: writing })}`;
    expect((await send({ headers }, search)).status).toBe(405);
    expect(calls).toEqual([]);
  });

  it('rejects two Authorization headers as malformed, before any call', async () => {
    calls.length = 0;
    const headers = 'Authorization: Bearer demo-key\r\nConnection: close\r\n';
    const received = await sendRaw(service.url, rawPost('{"query":"{ pets { id } }"}', headers));
    expect(received).toContain('"code":"UNAUTHENTICATED"');
    expect(received).toContain('malformed');
    expect(calls).toEqual([]);
  });
});
