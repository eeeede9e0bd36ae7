import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { graphqlRequest } from './graphql.ts';
import { startIn } from './process.ts';

/** Starts Next's server in an application. Disposing of it also removes the gateway's database. */
export async function startNext(
  folder: string,
  command: 'start' | 'dev',
  settings: Readonly<Record<string, string>> = {},
) {
  const next = join(folder, 'node_modules/next/dist/bin/next');
  const args = [next, command, '--port', '0', '--hostname', '127.0.0.1'];
  const started = await startIn(folder, args, { NEXT_TELEMETRY_DISABLED: '1', ...settings });
  const { url, output } = started;
  if (url === '') throw new Error(`Expected next ${command} to serve: ${output.stderr}`);
  return {
    url,
    post: async (query: string) => (await fetch(graphqlRequest(url, { query }))).json(),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await rm(join(folder, 'data'), { recursive: true, force: true });
    },
  };
}
