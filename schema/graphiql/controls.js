// Runs in the browser, before page.js: the controls that this gateway adds to GraphiQL.

const {
  workers,
  apiKey = '',
  demoKeys,
  explain,
  introspectsWithKey,
  ...options
} = JSON.parse(document.getElementById('options').textContent);

const control = (id) => document.getElementById(id);

/** Longer links are refused by many servers and proxies. */
const maxLinkLength = 8000;

/** What one of GraphiQL's editors contains: a model of Monaco. */
function editorModel(name) {
  return globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith(name));
}

/** GraphiQL's own button. */
const refetchButton = 'button[aria-label^="Re-fetch GraphQL schema"]';

/** Whether the last operation was sent with the key of the field. */
let keyWasSent = true;

/**
 * The headers of a request: those of the controls, then those of the tab, which win. Undefined if the key
 * cannot be sent.
 */
function requestHeaders(tabHeaders = {}) {
  const key = control('key').value.trim();
  if (!/^[\w.~+/-]*=*$/.test(key)) {
    reportKey('An API key has only the characters A-Z a-z 0-9 . _ ~ + / - =. Leave out "Bearer".');
    return undefined;
  }
  const fromTab = new Headers(tabHeaders);
  keyWasSent = !fromTab.has('authorization');
  return new Headers({
    ...(key && { authorization: `Bearer ${key}` }),
    ...(control('explain').checked && { 'x-petstore-explain': '1' }),
    ...Object.fromEntries(fromTab),
  });
}

/** Shows beside the key what is wrong with it; an empty text means nothing. */
function reportKey(problem) {
  control('key-problem').textContent = problem;
  control('key').setAttribute('aria-invalid', problem !== '');
}

/** Shows what a result, or a part of one, says of the key and of the REST calls. */
function inspectResult(result) {
  const parts = [result, ...(result.incremental ?? []), ...(result.completed ?? [])];
  const errors = parts.flatMap((part) => part.errors ?? []);
  const isRefused = errors.some((error) => error.extensions?.code === 'UNAUTHENTICATED');
  if (isRefused && keyWasSent) {
    reportKey(control('key').value ? 'This API key is not accepted.' : 'Enter an API key.');
  }
  if (control('explain').checked && result.extensions?.calls) showCalls(result.extensions.calls);
  return result;
}

/** The name of the operation that was last selected in the active tab. */
let selectedOperation;
let activeTab;
options.onTabChange = ({ tabs, activeTabIndex }) => {
  const { id, operationName } = tabs[activeTabIndex];
  selectedOperation = operationName;
  // The calls are those of the tab that was left.
  if (activeTab !== undefined && activeTab !== id) showCalls();
  activeTab = id;
};
// Without this, each edit writes the query into the URL, but not the variables.
options.onEditQuery = () => undefined;

/** Opens the operation of the URL in a tab, and removes it from the URL. Never executes it. */
function openLink() {
  const link = new URLSearchParams(location.search);
  const query = link.get('query');
  if (query === null) return;
  const variables = link.get('variables') ?? '';
  options.initialQuery = query;
  options.initialVariables = variables;
  options.defaultTabs.unshift({ query, variables });
  selectedOperation = link.get('operationName');
  history.replaceState(null, '', location.pathname);
}

/** Moves the cursor to an operation: Ctrl-Enter executes the operation at the cursor. */
function selectOperation(name) {
  if (!/^\w+$/.test(name ?? '')) return;
  const model = editorModel('operation.graphql');
  const head = `(query|mutation)\\s+${name}\\b`;
  const found = model.findNextMatch(head, { lineNumber: 1, column: 1 }, true, true, null, false);
  if (!found) return;
  const editors = globalThis.__MONACO.editor.getEditors();
  const editor = editors.find((candidate) => candidate.getModel() === model);
  editor.setPosition(found.range.getStartPosition());
  editor.revealLineInCenter(found.range.startLineNumber);
  editor.focus();
}

/** Copies a link to the operation of the active tab, without the key. */
async function copyLink() {
  const link = new URL(location.pathname, location.origin);
  link.searchParams.set('query', editorModel('operation.graphql').getValue());
  const variables = editorModel('variables.json').getValue();
  if (variables.trim()) link.searchParams.set('variables', variables);
  if (selectedOperation) link.searchParams.set('operationName', selectedOperation);
  const status = control('link-status');
  status.textContent = '';
  if (link.href.length > maxLinkLength) {
    status.textContent = `Too long for a link: ${link.href.length} characters, at most ${maxLinkLength}.`;
    return;
  }
  try {
    await navigator.clipboard.writeText(link.href);
    status.textContent = 'Link copied, without the key.';
  } catch {
    // Browsers offer the clipboard to https and loopback pages only.
    history.replaceState(null, '', link);
    status.textContent = 'The link is in the address bar, without the key.';
  }
}

/** The texts of the named operations, for which the client package has documents. */
const published = options.defaultTabs.map(({ query }) => query);

/** Copies the operation of the active tab as code, with a placeholder for the key. */
async function copyCode({ target }) {
  const format = target.value;
  // The same format can be chosen again.
  target.value = '';
  const status = control('link-status');
  status.textContent = '';
  try {
    const code = codeOf(format, {
      url: location.origin + location.pathname,
      query: editorModel('operation.graphql').getValue(),
      variables: variablesText(),
      operationName: selectedOperation,
      published,
    });
    await navigator.clipboard.writeText(code);
    status.textContent = `Copied as ${format}, with a placeholder for the key.`;
  } catch (error) {
    // Without https or a loopback address there is no clipboard.
    status.textContent = `Not copied. ${error.message}`;
  }
}

/**
 * Moves the controls beside the run button and the calls below the result, once GraphiQL shows them: it
 * accepts no elements of others there. Where these are not found, the controls stay above GraphiQL.
 */
function placeControls() {
  const editor = document.querySelector('[data-uri$="operation.graphql"]');
  const result = document.querySelector('.graphiql-response');
  if (!editor || !result) return false;
  editor.closest('section').prepend(control('controls'));
  result.append(control('calls'));
  // Scrolled with the keyboard.
  control('calls').tabIndex = 0;
  selectOperation(selectedOperation);
  return true;
}

/**
 * Esc moves the focus from an editor to the element around it, from where Tab goes on. While suggestions
 * are open, it closes only them. In the Find box, GraphiQL and its editor would both execute at Ctrl-Enter.
 */
function handleKey(event) {
  const { key, target } = event;
  const editor = '[aria-roledescription="editor"]:not([aria-haspopup="true"])';
  if (key === 'Escape' && target.matches(editor)) target.closest('[tabindex="0"]').focus();
  const executes = key === 'Enter' && (event.ctrlKey || event.metaKey);
  if (executes && target.closest('.find-widget')) event.stopImmediatePropagation();
}

openLink();
control('key').value = apiKey;
control('key').addEventListener('input', () => reportKey(''));
// GraphiQL loads the schema when it opens, mostly before there is a key.
control('key').addEventListener('change', () => {
  if (introspectsWithKey) document.querySelector(refetchButton)?.click();
});
if (demoKeys) {
  const all = Object.entries({ [apiKey]: { title: 'succeeds' }, ...demoKeys });
  const list = all.map(([value, { title }]) => new Option(title, value));
  control('demo-keys').append(...list);
  // The keys of a demo are no secrets, and a password field cannot list any.
  control('key').type = 'text';
  control('key').setAttribute('list', 'demo-keys');
  // The list has only what begins with the text, which is replaced so.
  control('key').addEventListener('focus', ({ target }) => target.select());
}
control('explain-label').hidden = !explain;
// A demo shows what happens.
control('explain').checked = explain && apiKey !== '';
control('explain').addEventListener('change', () => showCalls());
control('copy-link').addEventListener('click', copyLink);
control('copy-code').append(...Object.keys(codeFormats).map((format) => new Option(format)));
control('copy-code').addEventListener('change', copyCode);
// Before the editor handles the key.
window.addEventListener('keydown', handleKey, { capture: true });
new MutationObserver((_changes, observer) => {
  if (placeControls()) observer.disconnect();
}).observe(control('root'), { childList: true, subtree: true });
