import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, vi } from 'vitest';
import { packGateway } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';
import { graphqlRequest, withKey } from '../../support/graphql.ts';
import { shellStart } from '../../support/process.ts';
import { hasRegistry, installEnv, registryTest } from '../../support/registry.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 1_200_000 });

const files = {
  'package.json': '{ "type": "module" }',
  // The package becomes part of Nitro's bundle, in which it replaces text.
  'nitro.config.ts': "export default { serverDir: './', noExternals: true };",
  'routes/graphql.ts': `import { defineHandler } from 'nitro/h3';
    import { createGateway, createLazyGateway, loadConfig } from 'petstore-gateway';
    const gateway = createLazyGateway(() => createGateway(loadConfig(process.env)));
    export default defineHandler((event) => gateway(event.req));`,
};

describe('Nitro 3.0.0, with the gateway in its bundle', () => {
  const folder = createFolder();
  beforeAll(async () => {
    if (!hasRegistry) return;
    await mkdir(join(folder, 'routes'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const options = { cwd: folder, env: installEnv };
    const packages = ['nitro@3.0.0', await packGateway(folder)];
    await promisify(execFile)('npm', ['install', '--no-audit', ...packages], options);
    await promisify(execFile)('npx', ['nitro', 'build'], options);
  });

  registryTest('executes requests with a body, and serves GraphiQL', async () => {
    const env = { DATABASE_URL: ':memory:', LOG_LEVEL: 'warn', HOST: '127.0.0.1' };
    const banner = /Listening on (http:\/\/[^\s/]+)/;
    await using server = await shellStart(
      folder,
      'exec node .output/server/index.mjs',
      env,
      banner,
    );
    expect(server.url, server.output.stderr).not.toBe('');
    const request = graphqlRequest(server.url, { query: '{ pets(limit: 1) { id } }' }, withKey);
    expect(await (await fetch(request)).json()).toEqual({ data: { pets: [{ id: '1' }] } });
    const page = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('typeof window');
  });
});
