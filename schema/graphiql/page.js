// Runs in the browser, after GraphiQL's own script: GraphiQL on this server.

const { workers, ...options } = JSON.parse(document.getElementById('options').textContent);

self.MonacoEnvironment = {
  getWorkerUrl: (_module, label) =>
    URL.createObjectURL(new Blob([workers[label]], { type: 'text/javascript' })),
};

/**
 * GraphiQL remembers the text of the active tab only once it was edited, and opens an empty tab at every
 * reload until then.
 */
function rememberActiveTab() {
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  for (const name of ['query', 'variables']) {
    if (tabs) localStorage.setItem(`graphiql:${name}`, tabs[activeTabIndex]?.[name] ?? '');
  }
}

/** Sends an operation, and returns its result or the parts of it. */
async function fetcher({ query, operationName, variables }, { headers } = {}) {
  const members = [`"query":${JSON.stringify(query)}`];
  if (operationName) members.push(`"operationName":${JSON.stringify(operationName)}`);
  if (variables) members.push(`"variables":${variablesText()}`);
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json, multipart/mixed',
      'content-type': 'application/json',
      ...headers,
    },
    body: `{${members.join()}}`,
  });
  const type = response.headers.get('content-type') ?? 'no content type';
  const [, boundary] = /^multipart\/mixed.*;\s*boundary="?([^";]+)/i.exec(type) ?? [];
  if (boundary !== undefined) return readParts(response, boundary);
  if (/json/i.test(type)) return JSON.parse(await response.text());
  throw new Error(`Expected JSON, received ${type} with the status ${response.status}.`);
}

/**
 * The variables as JSON, from the text of their editor: GraphiQL parses it with a loss of digits. The text
 * may contain comments and trailing commas.
 */
function variablesText() {
  const models = globalThis.__MONACO.editor.getModels();
  const text = models.find(({ uri }) => uri.path.endsWith('variables.json')).getValue();
  const keepString = (token) => (token.startsWith('"') ? token : '');
  return text
    .replace(/"(?:[^"\\]|\\.)*"|\/\/.*|\/\*[\s\S]*?\*\//g, keepString)
    .replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, keepString);
}

/** The parts of a response (RFC 2046, section 5.1), each when the boundary after it has arrived. */
async function* readParts(response, boundary) {
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split(`\r\n--${boundary}`);
    rest = parts.pop();
    for (const part of parts) {
      const [, json] = part.split('\r\n\r\n');
      if (json) yield JSON.parse(json);
    }
  }
}

rememberActiveTab();
globalThis.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  ...options,
  fetcher,
});
