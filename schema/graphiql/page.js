// Runs in the browser, after GraphiQL's own script: GraphiQL on this server.

// Older browsers need the digits that GraphiQL's own functions keep.
if (JSON.rawJSON) Object.assign(JSON, { parse, stringify });

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
    const { tabs, activeTabIndex } = JSON.parse(storage.getItem('graphiql:tabState'));
    active = tabs[activeTabIndex] ?? active;
  } catch {
    // Nothing is stored yet, or not by GraphiQL.
    storage.removeItem('graphiql:tabState');
  }
  for (const name of ['query', 'variables']) {
    storage.setItem(`graphiql:${name}`, active?.[name] ?? '');
  }
}

/** The id of the active tab, once GraphiQL has changed or executed something. */
let activeTab;
/** Stops the operation in flight, which is that of the active tab. */
let stopRunning = () => undefined;
options.onTabChange = ({ tabs, activeTabIndex }) => {
  const { id } = tabs[activeTabIndex];
  if (activeTab === id) return;
  // GraphiQL would show the result in the new tab.
  if (activeTab !== undefined) stopRunning();
  activeTab = id;
  control('copy-status').textContent = '';
  showOutcome();
};
// Without this, each edit writes the query into the URL, but not the variables.
options.onEditQuery = () => undefined;

/** The line and the REST calls of the last request of each tab, by the tab's id. */
const outcomes = new Map();

/** Records what a request of a tab has come to, and shows it while the tab is active. */
function reportOutcome(tab, outcome) {
  outcomes.set(tab, { ...outcomes.get(tab), ...outcome });
  if (tab !== undefined && tab === activeTab) showOutcome();
}

function showOutcome() {
  const { line = 'Press ▶ to run the operation.', calls } = outcomes.get(activeTab) ?? {};
  control('outcome').textContent = line;
  showCalls(control('explain').checked ? calls : undefined);
}

/**
 * Returns a result, or a part of one, with all digits of its numbers. Shows what it says of the key and,
 * in place of `extensions.calls`, the REST calls.
 */
function readResult(text, { tab, key, isExplained }) {
  const exact = JSON.parse(text, (_name, value, context) =>
    typeof value === 'number' && context ? JSON.rawJSON(context.source) : value,
  );
  const result = parse(text);
  const parts = [result, ...(result.incremental ?? []), ...(result.completed ?? [])];
  const errors = parts.flatMap((part) => part.errors ?? []);
  const isRefused = errors.some((error) => error.extensions?.code === 'UNAUTHENTICATED');
  if (isRefused && key === fieldKey()) {
    reportKey(key ? 'This API key is not accepted.' : 'Enter an API key.');
  }
  const { calls } = result.extensions ?? {};
  if (isExplained && calls) {
    reportOutcome(tab, { calls });
    delete exact.extensions.calls;
    if (Object.keys(exact.extensions).length === 0) delete exact.extensions;
  }
  return exact;
}

/**
 * Sends an operation. Returns at once what GraphiQL can unsubscribe from: that aborts the request, and
 * nothing of it is shown afterwards. Introspection belongs to no tab.
 */
function fetcher(given, { headers: tabHeaders } = {}) {
  const isIntrospection = given.operationName === 'IntrospectionQuery';
  // Until GraphiQL has parsed the document of another tab, it has the operation of the one before.
  const isInDocument = ({ name }) => name === given.operationName;
  const params = { ...given, operationName: operationsOf(given.query).find(isInDocument)?.name };
  return {
    subscribe(observer) {
      const controller = new AbortController();
      const { signal } = controller;
      const tab = isIntrospection ? undefined : activeTab;
      let hasEnded = false;
      const end = (how, error) => {
        if (!hasEnded) observer[how](error);
        hasEnded = true;
      };
      const deliver = async () => {
        for await (const result of send({ ...params, tabHeaders, tab, isIntrospection, signal })) {
          if (hasEnded) return;
          observer.next(result);
        }
      };
      deliver().then(
        () => end('complete'),
        (error) => end('error', error),
      );
      const stop = () => {
        if (hasEnded) return;
        controller.abort();
        const { query, operationName } = params;
        const isWrite = operationsOf(query).some(
          ({ kind, name }) => kind === 'mutation' && (!operationName || name === operationName),
        );
        const write = isWrite ? ' The mutation may have been carried out.' : '';
        reportOutcome(tab, { line: `Stopped.${write}` });
        end('complete');
      };
      if (!isIntrospection) stopRunning = stop;
      return { unsubscribe: stop };
    },
  };
}

/** Yields the result of a request, or the parts of it (RFC 2046, section 5.1) as they arrive. */
async function* send({ query, tab, isIntrospection, ...request }) {
  if (!isIntrospection) {
    // A small window does not show all of the page.
    document.querySelector('.graphiql-response').scrollIntoView({ block: 'nearest' });
    reportKey('');
    const variables = editorModel('variables.json').getValue();
    updateHistory(JSON.stringify({ query, variables }));
  }
  const needsKey = !isIntrospection || introspectsWithKey;
  const { headers, key } = needsKey
    ? requestHeaders(request.tabHeaders)
    : { headers: new Headers() };
  reportOutcome(tab, { line: headers ? 'No response yet.' : 'Not sent.', calls: undefined });
  if (!headers) {
    yield { errors: [{ message: control('key-problem').textContent }] };
    return;
  }
  const isExplained = control('explain').checked;
  const deferred = 'multipart/mixed;incrementalSpec=v0.2';
  headers.set('accept', `application/graphql-response+json, application/json, ${deferred}`);
  headers.set('content-type', 'application/json');
  const { operationName, variables, signal } = request;
  const members = [`"query":${JSON.stringify(query)}`];
  if (operationName) members.push(`"operationName":${JSON.stringify(operationName)}`);
  if (variables) members.push(`"variables":${variablesText()}`);
  const body = `{${members.join()}}`;
  const startedAt = performance.now();
  const passed = () => milliseconds(performance.now() - startedAt);
  const response = await fetch(location.pathname, { method: 'POST', headers, body, signal });
  const type = response.headers.get('content-type') ?? 'no content type';
  const [, boundary] = /^multipart\/mixed.*;\s*boundary="?([^";]+)/i.exec(type) ?? [];
  const separator = boundary && `\r\n--${boundary}`;
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  for await (const chunk of response.body) {
    bytes += chunk.length;
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(separator);
    rest = parts.pop();
    for (const part of parts) {
      const [, json] = part.split('\r\n\r\n');
      if (!json) continue;
      const line = `HTTP ${response.status}, ${bytes} bytes after ${passed()}. More to come.`;
      reportOutcome(tab, { line });
      yield readResult(json, { tab, key, isExplained });
    }
  }
  reportOutcome(tab, { line: `HTTP ${response.status} in ${passed()}, ${bytes} bytes` });
  if (boundary) return;
  if (!/json/i.test(type)) {
    throw new Error(`Expected JSON, received ${type} with the status ${response.status}.`);
  }
  yield readResult(rest, { tab, key, isExplained });
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

showOutcome();
rememberActiveTab();
globalThis.YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  ...options,
  fetcher,
});
