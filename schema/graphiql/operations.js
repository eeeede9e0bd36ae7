// Runs in the browser, before controls.js: the operations of the tabs, as links, as code and in the history.

/** Longer links are refused by many servers and proxies. */
const maxLinkLength = 8000;

/** What one of GraphiQL's editors contains: a model of Monaco. */
function editorModel(name) {
  return globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith(name));
}

/** GraphiQL's editor of the operation. */
function operationEditor() {
  const model = editorModel('operation.graphql');
  return globalThis.__MONACO.editor.getEditors().find((editor) => editor.getModel() === model);
}

/** The operation that a link selects, once. */
let linkedOperation;

/** Opens the operation of the URL in a tab, and removes it from the URL. Never executes it. */
function openLink() {
  const link = new URLSearchParams(location.search);
  const query = link.get('query');
  if (query === null) return;
  const variables = link.get('variables') ?? '';
  options.initialQuery = query;
  options.initialVariables = variables;
  options.defaultTabs.unshift({ query, variables });
  linkedOperation = link.get('operationName');
  history.replaceState(null, '', location.pathname);
}

/** Moves the cursor to an operation: Ctrl-Enter executes the operation at the cursor. */
function selectOperation(name) {
  if (!/^\w+$/.test(name ?? '')) return;
  const head = `(query|mutation)\\s+${name}\\b`;
  const editor = operationEditor();
  const model = editor.getModel();
  const found = model.findNextMatch(head, { lineNumber: 1, column: 1 }, true, true, null, false);
  if (!found) return;
  editor.setPosition(found.range.getStartPosition());
  editor.revealLineInCenter(found.range.startLineNumber);
  editor.focus();
}

/** The name of the operation at the cursor, if the tab has several. */
function selectedOperation() {
  const editor = operationEditor();
  const operations = operationsOf(editor.getValue());
  const offset = editor.getModel().getOffsetAt(editor.getPosition());
  return operations.length > 1 ? operations.find(({ end }) => offset <= end)?.name : undefined;
}

/** A link to the operation of the active tab, without the key. @throws an Error if it is too long */
function linkOf(query, variables, operationName) {
  const link = new URL(location.pathname, location.origin);
  link.searchParams.set('query', query);
  if (variables.trim()) link.searchParams.set('variables', variables);
  if (operationName) link.searchParams.set('operationName', operationName);
  if (link.href.length <= maxLinkLength) return link.href;
  throw new Error(`Too long for a link: ${link.href.length} characters, at most ${maxLinkLength}.`);
}

/** Copies the operation of the active tab as a link or as code, in which a key of a demo is no secret. */
async function copyAs({ target }) {
  const format = target.value;
  // The same format can be chosen again.
  target.value = '';
  const status = control('copy-status');
  status.textContent = '';
  try {
    const query = editorModel('operation.graphql').getValue();
    const operationName = selectedOperation();
    const key = demoKeys?.[fieldKey()] ? fieldKey() : apiKey || keyPlaceholder;
    const url = location.origin + location.pathname;
    const text =
      format === 'link'
        ? linkOf(query, editorModel('variables.json').getValue(), operationName)
        : codeOf(format, { url, key, query, variables: variablesText(), operationName });
    await navigator.clipboard.writeText(text);
    const note = format === 'link' ? ', without the key' : `, with the key ${key}`;
    status.textContent = `Copied as ${format}${note}.`;
  } catch (error) {
    status.textContent = `Not copied. ${error.message}`;
  }
}

/** Copies a text where browsers do not offer their clipboard: on pages of http that are not of this machine. */
async function copyBySelection(text) {
  const { activeElement } = document;
  const area = createElement('textarea', {}, text);
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  activeElement.focus();
  if (!isCopied) throw new Error('The browser does not allow it.');
}

/**
 * What GraphiQL remembers. The browser may forbid to store it, or have no room; then it lasts as long as
 * the page.
 */
const remembered = new Map();
const stored = (method, ...values) => {
  try {
    return localStorage[method](...values);
  } catch {
    return null;
  }
};
options.storage = {
  getItem: (name) => remembered.get(name) ?? stored('getItem', name),
  setItem(name, text) {
    remembered.set(name, text);
    stored('setItem', name, text);
  },
  removeItem(name) {
    remembered.delete(name);
    stored('removeItem', name);
  },
  clear() {
    for (const name of remembered.keys()) this.removeItem(name);
  },
};

/** Operations to open again: the examples, and what was executed last, without keys. */
const examples = [...options.defaultTabs];
const readHistory = () => JSON.parse(options.storage.getItem('graphiql:history') ?? '[]');

/** Adds an operation to the history, once. */
function recordOperation(query, variables) {
  const others = readHistory().filter((one) => one.query !== query || one.variables !== variables);
  const recent = [{ query, variables }, ...others].slice(0, 20);
  options.storage.setItem('graphiql:history', JSON.stringify(recent));
  listOperations();
}

/** Fills the list of operations to open. */
function listOperations() {
  const [, exampleGroup, historyGroup] = control('open-operation').children;
  const option = ({ query, variables }) => {
    const [{ kind, name = kind } = { kind: 'operation' }] = operationsOf(query);
    const text = `${name} ${variables.replace(/\s+/g, ' ')}`.slice(0, 60);
    const created = new Option(text, JSON.stringify({ query, variables }));
    return created;
  };
  exampleGroup.replaceChildren(...examples.map(option));
  historyGroup.replaceChildren(...readHistory().map(option));
}

/** Opens an operation of the list in a new tab. */
function openOperation({ target }) {
  const { query, variables } = JSON.parse(target.value);
  target.value = '';
  document.querySelector('.graphiql-tab-add').click();
  editorModel('operation.graphql').setValue(query);
  editorModel('variables.json').setValue(variables);
}
