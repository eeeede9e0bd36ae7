import { readFile } from 'node:fs/promises';

const source = new URL('../../schema/openapi.yaml', import.meta.url);

/**
 * Returns `schema/openapi.yaml` as JSON, with this instance added as the first server, so that
 * generated clients call it by default.
 */
export async function openApiJson(): Promise<string> {
  const { parse } = await import('yaml');
  const openApi = parse(await readFile(source, 'utf8'));
  openApi.servers.unshift({ url: '/v1', description: 'This server.' });
  openApi.paths['/messages'].servers.unshift({ url: '/quickstart', description: 'This server.' });
  return JSON.stringify(openApi);
}
