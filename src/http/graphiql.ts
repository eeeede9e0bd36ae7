import { type Graphiql, listAssets, locateGraphiql, readAsset } from './assets.ts';
import type { HttpResponse, RequestHead } from './http-message.ts';
import { readAccept } from './media-type.ts';
import { createStaticFile } from './static-file.ts';

const html = 'text/html';

/** A page for browsers at the GraphQL path; undefined for a request that does not accept HTML. */
export type GraphiqlPage = (head: RequestHead) => Promise<HttpResponse> | undefined;

/** Options of `createGraphiql`. */
export interface GraphiqlOptions {
  /** Whether operations may introspect; `keys`: those of accepted keys. */
  readonly introspection: boolean | 'keys';
  /** The API key that the page starts with. */
  readonly apiKey: string | undefined;
  /** Variables to run operations without changes, by file. The tabs of others, without any, follow theirs. */
  readonly examples: Readonly<Record<string, object>>;
  /** The other demo keys, which the page offers. */
  readonly demoKeys?: ReadonlyMap<string, { readonly title: string }> | undefined;
  /** Whether the page offers to show the REST calls of an operation. */
  readonly explain: boolean;
  /** Whether there is a reference of the REST interface, to which the page links. */
  readonly reference: boolean;
}

/** Creates the GraphiQL page. */
export function createGraphiql(options: GraphiqlOptions): GraphiqlPage {
  const headers = {
    // Shared caches must not store the page, because it may contain a key.
    'cache-control': 'private, no-cache',
    // The same path also serves JSON.
    vary: 'Accept, Accept-Encoding',
  };
  const importGraphiql = locateGraphiql();
  const page = createStaticFile(`${html}; charset=utf-8`, headers, async () =>
    // On the first request because it is large.
    render(options, await importGraphiql()),
  );
  return (head) => (acceptsPage(head) ? page(head.headers) : undefined);
}

/** Creates the page where GraphiQL is off. A GET with parameters executes an operation. */
export function createGraphiqlNotice(): GraphiqlPage {
  const headers = { 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding' };
  const page = createStaticFile(`${html}; charset=utf-8`, headers, () =>
    readAsset('graphiql/off.html'),
  );
  return (head) => {
    if (!acceptsPage(head) || head.search) return undefined;
    const { 'if-none-match': _, ...headers } = head.headers;
    return page(headers).then((response) => ({ ...response, status: 404 }));
  };
}

function acceptsPage({ method, headers }: RequestHead): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const { jsonRange, ranges } = readAccept(headers['accept'] ?? '');
  return ranges.find((range) => range.type === html || range === jsonRange)?.type === html;
}

/** Renders the page with its scripts and styles inline. */
async function render(
  { demoKeys, introspection, examples, ...page }: GraphiqlOptions,
  { css, js, ...workers }: Graphiql,
): Promise<string> {
  const paw = await readAsset('graphiql/paw.svg');
  const options = {
    ...page,
    demoKeys: demoKeys && Object.fromEntries(demoKeys),
    introspectsWithKey: introspection === 'keys',
    defaultTabs: await readTabs(examples),
    title: '<h1>Pet Store gateway</h1>',
    logo: paw,
    // The browser must not store a key.
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
<meta name="color-scheme" content="light dark">
<title>Pet Store gateway</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(paw)}">
<style>${css}${await readAsset('graphiql/page.css')}</style>
</head>
<body>
${introspection ? '' : withoutIntrospection}
${await readAsset('graphiql/controls.html')}
<main id="root"></main>
<noscript>GraphiQL needs JavaScript.</noscript>
<script id="options" type="application/json">${JSON.stringify(options).replaceAll('<', '\\u003c')}</script>
<script>${await readAsset('graphiql/key.js')}</script>
<script>${await readAsset('graphiql/calls.js')}</script>
<script>${await readAsset('graphiql/code.js')}</script>
<script>${await readAsset('graphiql/operations.js')}</script>
<script>${await readAsset('graphiql/controls.js')}</script>
<script>${js}</script>
<script>${await readAsset('graphiql/page.js')}</script>
</body>
</html>
`;
}

const withoutIntrospection = `<header class="notice">Introspection is off, so there are no descriptions and no
completion here. Operations run as usual. <code>INTROSPECTION=on</code> turns it on.</header>`;

/** Reads a tab for each operation, with the fragments that it uses. */
async function readTabs(examples: GraphiqlOptions['examples']) {
  const fragments = await readFragments();
  const files = new Set([...Object.keys(examples), ...(await listAssets('operations'))]);
  return Promise.all(
    Array.from(files, async (file) => {
      const text = await readAsset(`operations/${file}`);
      const used = fragments.filter(([name]) => new RegExp(`\\.{3}${name}\\b`).test(text));
      return {
        query: [text, ...used.map(([, fragment]) => fragment)].join('\n'),
        variables: JSON.stringify(examples[file] ?? {}, undefined, 2),
      };
    }),
  );
}

/** Returns each fragment with its name. */
async function readFragments(): Promise<[string, string][]> {
  const texts = await Promise.all(
    (await listAssets('fragments')).map((file) => readAsset(`fragments/${file}`)),
  );
  return texts.map((text) => [/\bfragment (\w+)/.exec(text)?.[1] ?? '', text]);
}
