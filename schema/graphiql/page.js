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
  const { storage } = options;
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
  showOutcome();
};
// Without this, each edit writes the query into the URL, but not the variables.
options.onEditQuery = () => undefined;

/** The line and the REST calls of the last request of each tab, by the tab's id. */
const outcomes = new Map();

/** Records what a request of a tab has come to, and shows it while the tab is active. */
function reportOutcome(tab, outcome) {
  outcomes.set(tab, { ...outcomes.get(tab), ...outcome });
  if (tab === activeTab) showOutcome();
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
  const exact = parse(text, (_name, value, context) =>
    typeof value === 'number' && JSON.rawJSON ? JSON.rawJSON(context.source) : value,
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
 * nothing of it is shown afterwards.
 */
function fetcher(params, { headers: tabHeaders } = {}) {
  const isIntrospection = params.operationName === 'IntrospectionQuery';
  return {
    subscribe(observer) {
      const controller = new AbortController();
      const request = { ...params, tabHeaders, isIntrospection, tab: activeTab, isEnded: false };
      deliver(request, observer, controller.signal);
      if (isIntrospection) return { unsubscribe: () => controller.abort() };
      stopRunning = () => {
        if (request.isEnded) return;
        request.isEnded = true;
        controller.abort();
        reportOutcome(request.tab, { line: 'Stopped. A mutation may have been carried out.' });
        observer.complete();
      };
      return { unsubscribe: stopRunning };
    },
  };
}

/** Passes on the result of a request, or its parts, until it is stopped. */
async function deliver(request, observer, signal) {
  try {
    for await (const result of send(request, signal)) {
      if (signal.aborted) return;
      observer.next(result);
    }
    if (signal.aborted) return;
    request.isEnded = true;
    observer.complete();
  } catch (error) {
    if (signal.aborted) return;
    request.isEnded = true;
    observer.error(error);
  }
}

/** Yields the result of a request, or the parts of it (RFC 2046, section 5.1) as they arrive. */
async function* send(request, signal) {
  const { query, operationName, variables, tab, isIntrospection } = request;
  const report = (outcome) => isIntrospection || reportOutcome(tab, outcome);
  report({ line: 'Running…', calls: undefined });
  if (!isIntrospection) {
    reportKey('');
    recordOperation(query, editorModel('variables.json').getValue());
  }
  const needsKey = !isIntrospection || introspectsWithKey;
  const { headers, key } = needsKey
    ? requestHeaders(request.tabHeaders)
    : { headers: new Headers() };
  if (headers === undefined) {
    report({ line: 'Not sent.' });
    yield { errors: [{ message: control('key-problem').textContent }] };
    return;
  }
  const isExplained = control('explain').checked;
  headers.set('accept', 'application/graphql-response+json, application/json, multipart/mixed');
  headers.set('content-type', 'application/json');
  const members = [`"query":${JSON.stringify(query)}`];
  if (operationName) members.push(`"operationName":${JSON.stringify(operationName)}`);
  if (variables) members.push(`"variables":${variablesText()}`);
  const body = `{${members.join()}}`;
  const startedAt = performance.now();
  report({ line: 'No response yet.' });
  const response = await fetch(location.pathname, { method: 'POST', headers, body, signal });
  const type = response.headers.get('content-type') ?? 'no content type';
  const [, boundary] = /^multipart\/mixed.*;\s*boundary="?([^";]+)/i.exec(type) ?? [];
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  for await (const chunk of response.body) {
    bytes += chunk.length;
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(
      boundary && `\r\n--${boundary}`,
    );
    rest = parts.pop();
    for (const part of parts) {
      const [, json] = part.split('\r\n\r\n');
      if (json) yield readResult(json, { tab, key, isExplained });
    }
  }
  const time = milliseconds(performance.now() - startedAt);
  report({ line: `HTTP ${response.status} in ${time}, ${bytes} bytes` });
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
