import { readdir, readFile } from 'node:fs/promises';
import type { HttpRequest, HttpResponse } from '../http/message.ts';
import { createStaticFile } from '../http/static-file.ts';

const operations = new URL('../../schema/operations/', import.meta.url);

/** Variables that make the tab of an operation run as it stands. */
const examples: Readonly<Record<string, object>> = {
  'list-pets': { limit: 5 },
  'add-pet': { input: { name: 'Biscuit', categoryId: '9223372036854775807', status: 'available' } },
  'get-pet': { id: '1' },
  'send-message': { message: 'Hello' },
  storefront: { limit: 3 },
};

/** The order of the tabs; an operation that is not named here comes after them. */
const first = ['list-pets', 'storefront', 'add-pet'];

/** GraphiQL for browsers at the address of GraphQL. */
export interface GraphiqlPage {
  /** The page, for a browser that opens the address; undefined for any other request. */
  answer(request: HttpRequest): Promise<HttpResponse> | undefined;
}

/** Makes the page, which starts with this API key. */
export function createGraphiql(apiKey: string | undefined): GraphiqlPage {
  const headers = {
    // The page may contain a key, which is not for shared caches.
    'cache-control': 'private, no-cache',
    // JSON is at the same address.
    vary: 'Accept, Accept-Encoding',
  };
  const page = createStaticFile('text/html; charset=utf-8', headers, async () => {
    // Its module is large.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const rendered = renderGraphiQL(await readOptions(apiKey));
    return rendered.replace('<head>', () => `<head>${rememberActiveTab}`);
  });
  return {
    answer({ method, headers }) {
      const isPage =
        (method === 'GET' || method === 'HEAD') && headers['accept']?.includes('text/html');
      return isPage ? page(headers) : undefined;
    },
  };
}

/** What GraphiQL shows: a tab for each named operation, and a key in its headers pane. */
async function readOptions(apiKey: string | undefined) {
  const headers = JSON.stringify(
    { Authorization: `Bearer ${apiKey ?? '<API key>'}` },
    undefined,
    2,
  );
  const names = (await readdir(operations)).map((file) => file.replace(/\.graphql$/, ''));
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const defaultTabs = await Promise.all(
    names.map(async (name) => ({
      query: await readFile(new URL(`${name}.graphql`, operations), 'utf8'),
      variables: JSON.stringify(examples[name] ?? {}, undefined, 2),
      headers,
    })),
  );
  return {
    title: 'Pet Store gateway',
    defaultTabs,
    headers,
    // A key is not for the browser's storage.
    shouldPersistHeaders: false,
  };
}

/**
 * Runs before GraphiQL, which remembers the text of the active tab only once it was edited, and
 * opens an empty tab at every reload until then.
 */
const rememberActiveTab = `<script>{
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  for (const name of ['query', 'variables']) {
    if (tabs) localStorage.setItem('graphiql:' + name, tabs[activeTabIndex]?.[name] ?? '');
  }
}</script>`;
