import { readAsset } from '../assets.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts';
import { createStaticFile } from '../http/static-file.ts';

/** The operations that have tabs, in their order, and variables that make each run as it stands. */
const tabs = [
  ['list-pets', { limit: 5 }],
  ['storefront', { limit: 3 }],
  ['deferred-storefront', { limit: 3 }],
  [
    'add-pet',
    { input: { name: 'Biscuit', categoryId: '9223372036854775807', status: 'available' } },
  ],
  ['get-pet', { id: '1' }],
  ['list-orders', {}],
  ['send-message', { message: 'Hello' }],
] as const;

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
  const page = createStaticFile(html, headers, () => readAsset('graphiql/only.html'));
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
  const paw = await readAsset('graphiql/paw.svg');
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
<style>${css}${await readAsset('graphiql/page.css')}</style>
</head>
<body>
${introspection ? '' : withoutIntrospection}
<div id="root"></div>
<noscript>GraphiQL needs JavaScript.</noscript>
<script id="options" type="application/json">${JSON.stringify(options).replaceAll('<', '\\u003c')}</script>
<script>${js}</script>
<script>${await readAsset('graphiql/page.js')}</script>
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
  const defaultTabs = await Promise.all(
    tabs.map(async ([name, variables]) => ({
      query: await readAsset(`operations/${name}.graphql`),
      variables: JSON.stringify(variables, undefined, 2),
      headers,
    })),
  );
  return { defaultTabs, headers };
}
