import { describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.ts';

describe('the files of the reference page', () => {
  const get = async (path: string, demoKey?: string) => {
    await using opened = await openGateway({ demoKey });
    const response = await opened.gateway(new Request(`http://gateway.test/v1/docs${path}`));
    return { response, text: await response.text() };
  };

  it('require no key, and may load nothing from other origins', async () => {
    for (const [path, type] of [
      ['', 'html'],
      ['/page.js', 'javascript'],
      ['/page.css', 'css'],
      ['/swagger-ui.css', 'css'],
      ['/swagger-ui-bundle.js', 'javascript'],
    ] as const) {
      const { response } = await get(path);
      expect(response.status, path).toBe(200);
      expect(response.headers.get('content-type')).toBe(`text/${type}; charset=utf-8`);
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self';.* connect-src 'self';.* frame-ancestors 'none'/,
      );
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('etag')).toMatch(/^"/);
    }
  });

  it('include no others', async () => {
    for (const path of ['/', '/package.json', '/constructor', '/..%2Froutes.ts']) {
      const { response, text } = await get(path);
      expect([response.status, JSON.parse(text)]).toMatchObject([404, { code: 'not_found' }]);
    }
  });

  it('are sent compressed, and not again to a browser that has them', async () => {
    await using service = await startGateway();
    const send = (method: string, headers = {}) =>
      fetch(`${service.url}/v1/docs/page.js`, {
        method,
        headers: { 'accept-encoding': 'br', ...headers },
      });
    const { status, headers } = await send('HEAD');
    expect([status, headers.get('content-encoding')]).toEqual([200, 'br']);
    const known = await send('GET', { 'if-none-match': headers.get('etag') });
    expect([known.status, await known.text()]).toEqual([304, '']);
  });

  it('may be stored by shared caches, except for the page, which may contain a key', async () => {
    const cacheControl = async (path: string) =>
      (await get(path, 'demo-key')).response.headers.get('cache-control');
    expect(await cacheControl('')).toBe('private, no-cache');
    expect(await cacheControl('/swagger-ui-bundle.js')).toBe('public, max-age=3600');
  });

  it('contain a key only in a demo', async () => {
    expect((await get('', 'demo-key')).text).toContain('data-api-key="demo-key"');
    expect((await get('')).text).toContain('data-api-key=""');
  });
});
