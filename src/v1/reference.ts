import type { Contract } from '../contract/operation.ts';
import { readAsset } from '../http/assets.ts';
import { createStaticFile, type StaticFile } from '../http/static-file.ts';

/** The files of the reference page by path, with asset and media type. */
const files = {
  '/v1/docs': ['reference/page.html', 'text/html; charset=utf-8'],
  '/v1/docs/page.css': ['reference/page.css', 'text/css; charset=utf-8'],
  '/v1/docs/page.js': ['reference/page.js', 'text/javascript; charset=utf-8'],
  '/v1/docs/swagger-ui.css': ['swagger-ui.css', 'text/css; charset=utf-8'],
  '/v1/docs/swagger-ui-bundle.js': ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
} as const;

/** Creates the OpenAPI document and its page, with an API key and a link to GraphiQL, by path. */
export function createReference(
  contract: Contract,
  apiKey = '',
  graphiql = false,
): ReadonlyMap<string, StaticFile> {
  const json = createStaticFile('application/json', { 'cache-control': 'no-cache' }, () =>
    openApiJson(contract),
  );
  const reference = new Map([['/v1/openapi.json', json]]);
  for (const [path, [asset, type]] of Object.entries(files)) {
    const isPage = path === '/v1/docs';
    // The page may contain an API key, which shared caches must not store.
    const headers = { 'cache-control': isPage ? 'private, no-cache' : 'public, max-age=3600' };
    const read = async () => {
      const text = await readAsset(asset);
      if (!isPage) return text;
      return text
        .replace('data-api-key=""', `data-api-key="${apiKey}"`)
        .replace('data-graphiql=""', `data-graphiql="${graphiql ? 'on' : ''}"`);
    };
    reference.set(path, createStaticFile(type, headers, read));
  }
  return reference;
}

/** Returns `schema/openapi.yaml` as JSON, with this instance as the server of generated clients. */
export async function openApiJson({ operations, services }: Contract): Promise<string> {
  const { parse } = await import('yaml');
  const openApi = parse(await readAsset('openapi.yaml'));
  const all = Object.values(operations);
  const [main = ''] = Object.keys(services);
  const serverOf = (service: string) => ({
    url: services[service]?.mountedAt,
    description: 'This server.',
  });
  openApi.servers.unshift(serverOf(main));
  for (const [path, service] of new Map(all.map((one) => [one.path, one.service]))) {
    const { servers = [] } = openApi.paths[path];
    if (service !== main) openApi.paths[path].servers = [serverOf(service), ...servers];
  }
  return JSON.stringify(openApi);
}
