import { expect, it } from 'vitest';
import { banner } from '../../src/cli/banner.ts';
import { loadConfig } from '../../src/config/config.ts';

const url = 'http://127.0.0.1:4000';
const service = { url, adminUrl: undefined, checkReady: async () => {} };

it('shows the database without its password', async () => {
  const text = await banner(
    service,
    loadConfig({ DATABASE_URL: 'postgres://ann:hunter2@db.example/pets' }),
  );
  expect(text).toContain('Backend  built-in, postgres://db.example/pets\n');
});

it('offers GraphiQL only where a browser can open it', async () => {
  const env = { DATABASE_URL: ':memory:' };
  expect(await banner(service, loadConfig(env))).toContain('/graphql (GraphiQL in a browser)\n');
  const behindSocket = await banner(
    { ...service, url: 'unix:/run/gateway.sock' },
    loadConfig({ ...env, HOST: 'unix:/run/gateway.sock' }),
  );
  expect(behindSocket).toContain('/graphql\n');
});
