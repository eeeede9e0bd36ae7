import { readdir, readFile } from 'node:fs/promises';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts';
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

const html = 'text/html; charset=utf-8';

/** A page for browsers at the address of GraphQL. */
export interface GraphiqlPage {
  /** The page, for a browser that opens the address; undefined for any other request. */
  answer(request: HttpRequest): Promise<HttpResponse> | undefined;
}

/** What the page is made with. */
export interface GraphiqlOptions {
  /** The API key that it starts with. */
  readonly apiKey: string | undefined;
  /** Whether the gateway answers introspection, by which GraphiQL learns the schema. */
  readonly introspection: boolean;
}

/** GraphiQL. */
export function createGraphiql(options: GraphiqlOptions): GraphiqlPage {
  const headers = {
    // The page may contain a key, which is not for shared caches.
    'cache-control': 'private, no-cache',
    // JSON is at the same address.
    vary: 'Accept, Accept-Encoding',
  };
  const page = createStaticFile(html, headers, () => render(options));
  return { answer: (request) => (asksForPage(request) ? page(request.headers) : undefined) };
}

/**
 * The page in place of GraphiQL when only persisted documents are served. A link to one of them returns
 * its result.
 */
export function createGraphiqlNotice(): GraphiqlPage {
  const headers = { 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' };
  const page = createStaticFile(html, headers, () => readPage('only.html'));
  const answer = async ({ 'accept-encoding': codings }: RequestHeaders) => ({
    ...(await page({ 'accept-encoding': codings })),
    status: 404,
  });
  return {
    answer: (request) =>
      asksForPage(request) && request.search === '' ? answer(request.headers) : undefined,
  };
}

function asksForPage({ method, headers }: HttpRequest): boolean {
  const { accept = '' } = headers;
  return (method === 'GET' || method === 'HEAD') && accept.includes('text/html');
}

/** The page with all that it loads. */
async function render({ apiKey, introspection }: GraphiqlOptions): Promise<string> {
  // Its module is large.
  const { css, js, ...workers } = await import('@graphql-yoga/render-graphiql/graphiql');
  const paw = await readPage('paw.svg');
  const options = {
    ...(await readTabs(apiKey)),
    title: 'Pet Store gateway',
    logo: paw,
    // A key is not for the browser's storage.
    shouldPersistHeaders: false,
    ...(!introspection && { schema: null }),
    workers: {
      editorWorkerService: workers.editorWorkerService,
      graphql: workers.graphqlWorker,
      json: workers.jsonWorker,
    },
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pet Store gateway</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(paw)}">
<style>${css}${await readPage('page.css')}</style>
</head>
<body>
${introspection ? '' : withoutIntrospection}
<div id="root"></div>
<noscript>GraphiQL needs JavaScript.</noscript>
<script id="options" type="application/json">${JSON.stringify(options).replaceAll('<', '\\u003c')}</script>
<script>${js}</script>
<script>${await readPage('page.js')}</script>
</body>
</html>
`;
}

const withoutIntrospection = `<p class="notice">Introspection is off, so there are no descriptions and no
completion here. Operations run as usual. <code>INTROSPECTION=on</code> turns it on.</p>`;

/** A tab for each named operation, and a key in the headers pane. */
async function readTabs(apiKey: string | undefined) {
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
  return { defaultTabs, headers };
}

/** A file of the page. */
function readPage(name: string): Promise<string> {
  return readFile(new URL(`../../schema/graphiql/${name}`, import.meta.url), 'utf8');
}
