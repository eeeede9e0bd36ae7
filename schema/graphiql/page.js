// Runs in the browser, after GraphiQL's own script: GraphiQL on this server.

self.MonacoEnvironment = {
  getWorkerUrl: (_module, label) =>
    URL.createObjectURL(new Blob([workers[label]], { type: 'text/javascript' })),
};

/**
 * GraphiQL remembers the texts of the active tab only once they were edited: until then it opens an empty
 * tab at every reload, and its first tab without variables.
 */
function rememberActiveTab() {
  let active = options.defaultTabs[0];
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState'));
    active = tabs[activeTabIndex] ?? active;
  } catch {
    // Nothing is stored yet, or not by GraphiQL.
    localStorage.removeItem('graphiql:tabState');
  }
  for (const name of ['query', 'variables']) {
    localStorage.setItem(`graphiql:${name}`, active?.[name] ?? '');
  }
}

/** Sends an operation, and returns its result or the parts of it. */
async function fetcher({ query, operationName, variables }, { headers: tabHeaders } = {}) {
  const isIntrospection = operationName === 'IntrospectionQuery';
  if (!isIntrospection) {
    reportKey('');
    showCalls();
  }
  const needsKey = !isIntrospection || introspectsWithKey;
  const headers = needsKey ? requestHeaders(tabHeaders) : new Headers();
  if (headers === undefined) return { errors: [{ message: control('key-problem').textContent }] };
  headers.set('accept', 'application/graphql-response+json, application/json, multipart/mixed');
  headers.set('content-type', 'application/json');
  const members = [`"query":${JSON.stringify(query)}`];
  if (operationName) members.push(`"operationName":${JSON.stringify(operationName)}`);
  if (variables) members.push(`"variables":${variablesText()}`);
  const body = `{${members.join()}}`;
  const response = await fetch(location.pathname, { method: 'POST', headers, body });
  const type = response.headers.get('content-type') ?? 'no content type';
  const [, boundary] = /^multipart\/mixed.*;\s*boundary="?([^";]+)/i.exec(type) ?? [];
  if (boundary !== undefined) return readParts(response, boundary);
  if (/json/i.test(type)) return inspectResult(JSON.parse(await response.text()));
  throw new Error(`Expected JSON, received ${type} with the status ${response.status}.`);
}

/**
 * The variables as JSON, from the text of their editor: GraphiQL parses it with a loss of digits. The text
 * may contain comments and trailing commas.
 */
function variablesText() {
  const keepString = (token) => (token.startsWith('"') ? token : '');
  return editorModel('variables.json')
    .getValue()
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
      if (json) yield inspectResult(JSON.parse(json));
    }
  }
}

rememberActiveTab();
globalThis.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  ...options,
  fetcher,
});
