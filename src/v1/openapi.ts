import { readAsset } from '../http/assets.ts';

/**
 * Returns `schema/openapi.yaml` as JSON, with this instance added as the first server, so that
 * generated clients call it by default.
 */
export async function openApiJson(): Promise<string> {
  const { parse } = await import('yaml');
  const openApi = parse(await readAsset('openapi.yaml'));
  openApi.servers.unshift({ url: '/v1', description: 'This server.' });
  openApi.paths['/messages'].servers.unshift({ url: '/quickstart', description: 'This server.' });
  return JSON.stringify(openApi);
}
