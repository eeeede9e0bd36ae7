import { describe, expect, it } from 'vitest';
import { createAuthority } from '../support/authority.ts';
import { apiKey, startGateway } from '../support/gateway.ts';
import { runCommand } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(['check-service', ...args], env);

describe('check-service', () => {
  it('exits with 0 for a service that follows the contract, with the key from the environment', async () => {
    await using service = await startGateway();
    const url = `${service.url}/v1`;
    const result = await run(['--base-url', url, '--json'], { PETSTORE_API_KEY: apiKey });
    expect([result.code, result.stderr]).toEqual([0, '']);
    expect(JSON.parse(result.stdout)).toMatchObject({ baseUrl: url, verdict: 'pass' });
  });

  it('exits with 1 for a service that violates it, and never prints the key', async () => {
    const code = `${apiKey}\u009b2J`;
    const error = (status: number) => JSON.stringify({ code, message: apiKey, status });
    await using service = await startUpstream(({ url, headers }, response) => {
      if (headers.authorization !== `Bearer ${apiKey}`) sendJson(response, 401, error(400));
      else if (url.startsWith('/v1/pets/')) sendJson(response, 404, error(404));
      else sendJson(response, 200, '[]');
    });
    const args = ['--base-url', `${service.url}/v1`, '--key', apiKey];
    const { stdout, stderr, code: exitCode } = await run(args);
    expect([exitCode, stderr]).toEqual([1, '']);
    // What would clear a terminal is escaped.
    expect(stdout).toContain('404, code "[API key]\\u009b2J"');
    const words = [...stdout.matchAll(/^(?:pass|FAIL|info|skip) /gm)];
    const results = words.map(([word]) => word.trim());
    expect(results.indexOf('FAIL')).toBe(results.findLastIndex((word) => word !== 'FAIL') + 1);
    expect(stdout).toContain('FAIL    GET /pets without a key: 401 with an Error body');
    expect(stdout).not.toContain(apiKey);
  });

  it('reaches a service of a private authority behind a proxy, as Node is configured', async () => {
    using authority = createAuthority();
    await using proxy = await startProxy();
    await using service = await startGateway({ tls: authority.issue('IP:127.0.0.1') });
    const result = await run(['--base-url', `${service.url}/v1`, '--key', apiKey], {
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: authority.caFile,
    });
    expect([result.code, result.stderr]).toEqual([0, '']);
    expect(proxy.heads[0]).toContain(`CONNECT ${new URL(service.url).host}`);
    expect(proxy.received()).not.toContain(apiKey);
  });

  const key = ['--key', apiKey];
  const unreachable = 'http://127.0.0.1:1/v1';
  it.each([
    ['no base URL', key, "required option '--base-url <url>' not specified"],
    ['no key', ['--base-url', 'http://127.0.0.1:9/v1'], 'set PETSTORE_API_KEY or pass --key'],
    [
      'an invalid base URL, without a key',
      ['--base-url', 'ftp://a?b=secret'],
      '--base-url: expected',
    ],
    ['an unreachable service', [...key, '--base-url', unreachable], 'could not be reached'],
  ])('exits with 2 and an error for %s', async (_, args, message) => {
    const { stdout, stderr, code } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/demo-key|secret|\.ts:/);
  });
});
