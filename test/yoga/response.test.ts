import { describe, expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { startGateway } from '../support/gateway.ts';
import { petsFirst, sendForParts } from '../support/parts.ts';

const response = 'application/graphql-response+json';
const json = 'application/json';
const mixed = 'multipart/mixed';
const parts = `${mixed}; deferSpec=20220824`;
const events = 'text/event-stream';
const html = 'text/html';

/** The media type of a `Content-Type`, with the format of parts. */
const typeOf = ({ headers }: Response) =>
  headers.get('content-type')?.replace(/; (?:charset=utf-8|boundary="-")/g, '');

const service = disposeAfterAll(await startGateway({ graphiql: true }));

describe('the media type of a response', () => {
  it.each([
    ['', json],
    ['*/*', json],
    ['application/*', json],
    [json, json],
    [response, response],
    [`${response}, ${json};q=0.9`, response],
    [`${json}, ${response}`, json],
    [`${response}, ${json}`, response],
    [`${response};q=0, ${json}`, json],
    [`${json};q=0.1, ${response}`, response],
    [`${json};q=0.5, ${response};q=0.50`, json],
    [`*/*;q=0.1, ${response}`, response],
    [`${response};q=0.1, */*`, json],
    [`application/*;q=0.2, ${response};q=0.1`, json],
    ['Application/GraphQL-Response+JSON', response],
    [`text/plain;note="${response}, ${json}", ${response}`, response],
    [`;,${json};q=,;,`, json],
    // Of a long header, the first 1,000 characters are read.
    [`${'a,'.repeat(300)}${response}`, response],
    [`${'a,'.repeat(500)}${response}`, json],
  ])('for Accept: %s is %s', async (accept, expected) => {
    expect(typeOf(await sendForParts(fetch, service.url, '{ __typename }', accept))).toBe(expected);
  });

  it.each([
    [mixed, parts],
    [`${mixed}, ${json}`, parts],
    [`${response}, application/graphql+json, ${json}, ${events}, ${mixed}`, events],
    [`${mixed};q=0.5, ${json}`, json],
    [`${mixed}, ${json};q=0.5`, parts],
    [`${mixed};q=0.5, */*`, json],
    [`${mixed}, */*;q=0.1`, parts],
    [`${events};q=0.5, ${mixed};q=0.6`, parts],
    [`${mixed};q=0.5, ${mixed};incrementalSpec=v0.2;q=0.6`, `${mixed}; incrementalSpec=v0.2`],
    [`${mixed};deferSpec=20220824, ${mixed};incrementalSpec=v0.2;q=0.6`, parts],
    [`${mixed};boundary="-";deferspec="20220824"`, parts],
    [`${mixed};incrementalSpec=v9.9, ${response};q=0.1`, response],
    ['multipart/*, text/*', json],
    [`${mixed};q=0, ${json}`, json],
    [`*/*;q=0.8, application/*;q=0.3, ${mixed};q=0.5`, parts],
    [`${response}, ${json};q=0.9`, response],
  ])('with a deferred fragment for Accept: %s is %s', async (accept, expected) => {
    const received = await sendForParts(fetch, service.url, petsFirst, accept);
    expect(typeOf(received)).toBe(expected);
    await received.body?.cancel();
  });

  it.each([
    [html, html],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', html],
    [`${json}, ${html}`, json],
    [`${html}, ${json}`, html],
    ['Text/HTML', html],
    [`${html};q=0.0, */*`, json],
    [`${html};q=0.1, ${json}`, json],
    [`*/*, ${html};q=0.5, application/*;q=0.1`, html],
    [`*/*, ${html};q=0.5, ${json};q=0.1, ${response};q=0.1`, html],
    [`text/plain;note="${html}"`, json],
    ['text/html-sandboxed', json],
  ])('at the path of GraphiQL for Accept: %s is %s', async (accept, expected) => {
    const received = await fetch(`${service.url}/graphql`, { headers: { accept } });
    expect(typeOf(received)).toBe(expected);
    await received.body?.cancel();
  });

  it('is decided in linear time', async () => {
    for (const text of [',', ';', '"', 'a/b;c="', 'a/b;c=="\\', 'a/b;q=0.1,', ' \t', '*/*,']) {
      const accept = `x${text.repeat(12_000 / text.length)}x`;
      const received = await sendForParts(fetch, service.url, '{ __typename }', accept);
      expect([text, received.status]).toEqual([text, text.startsWith('*') ? 200 : 406]);
      await received.text();
    }
  });
});

describe('a client that accepts one kind of parts only', () => {
  const post = (query: string, accept: string, init: RequestInit = {}) =>
    fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-key', accept },
      body: JSON.stringify({ query }),
      ...init,
    });

  it.each([
    ['text/event-stream', /^event: next\ndata: \{.+\}\n\nevent: complete\ndata:\n\n$/s],
    ['multipart/mixed', /^\r\n---\r\n.+\r\n\r\n\{.+\}\r\n-----\r\n$/s],
    ['text/event-stream, application/json;q=0.5', /^event: next/],
  ])('gets every result in it: %s', async (accept, expected) => {
    const queries = ['{ __typename }', '{', '{ a }', 'query ($a: Int!) { pets(limit: $a) { id } }'];
    for (const query of queries) {
      const response = await post(query, accept);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')?.split(';')[0]).toBe(accept.split(',')[0]);
      expect(await response.text()).toMatch(expected);
    }
    const refused = await post('', accept, { body: '{' });
    const [type = ''] = accept.split(',');
    expect([refused.status, typeOf(refused)?.split(';')[0]]).toEqual([
      type === 'text/event-stream' ? 200 : 400,
      type,
    ]);
    expect(await refused.text()).toMatch(expected);
  });

  it.each([
    'image/png',
    'application/json;q=0, text/plain',
    'application/*;q=0, */*',
    'multipart/mixed;deferSpec=1',
  ])('is refused before anything is executed if it accepts nothing that can be sent: %s', async (accept) => {
    const add = 'mutation { addPet(input: { name: "Refused", categoryId: 1 }) { id } }';
    const response = await post(add, accept);
    expect([response.status, typeOf(response)]).toEqual([406, 'application/json']);
    const { errors } = (await response.json()) as { errors: object[] };
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_ACCEPTABLE' } }]);
    const { text } = await post('{ pets(limit: 100) { name } }', '*/*').then(async (r) => ({
      text: await r.text(),
    }));
    expect(text).not.toContain('Refused');
  });

  it('gets the headers of a GET for HEAD', async () => {
    const url = `${service.url}/graphql?query={__typename}`;
    const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => fetch(url, { method })));
    const headersOf = (response: Response | undefined) =>
      Object.fromEntries(
        [...(response?.headers ?? [])].filter(
          ([name]) => !/^(?:date|x-request-id|connection|keep-alive)$/.test(name),
        ),
      );
    expect(head?.status).toBe(200);
    expect(headersOf(head)).toEqual(headersOf(get));
    expect(await head?.text()).toBe('');
    const write = 'mutation { sendMessage(message: "x") { id } }';
    const refused = await fetch(`${service.url}/graphql?query=${encodeURIComponent(write)}`, {
      method: 'HEAD',
    });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    const put = await fetch(url, { method: 'PUT' });
    expect(put.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});
