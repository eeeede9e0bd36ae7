import { readdir, readFile } from 'node:fs/promises';

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

/** What GraphiQL shows: a tab for each named operation, and a key in its headers pane. */
export async function graphiqlOptions(apiKey: string | undefined) {
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

/** The page itself, with everything it loads inside. Its module is large and loaded when asked for. */
export async function renderGraphiql(options: object): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return renderGraphiQL(options).replace('<head>', () => `<head>${rememberActiveTab}`);
}
