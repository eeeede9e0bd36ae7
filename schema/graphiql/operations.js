// Runs in the browser, before controls.js: the operations of the tabs, as links, as code and in the history.

/** What one of GraphiQL's editors contains: a model of Monaco. */
function editorModel(name) {
  return globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith(name));
}

/** GraphiQL's editor of the operation; undefined until GraphiQL has loaded. */
function operationEditor() {
  const isFound = (editor) => editor.getModel()?.uri.path.endsWith('operation.graphql');
  return globalThis.__MONACO?.editor.getEditors().find(isFound);
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

/** Moves the cursor to the operation of this name: Ctrl-Enter executes the operation at the cursor. */
function selectOperation(name) {
  const editor = operationEditor();
  const found = operationsOf(editor.getValue()).find((operation) => operation.name === name);
  if (!name || !found) return;
  const position = editor.getModel().getPositionAt(found.end - 1);
  editor.setPosition(position);
  editor.revealPositionInCenter(position);
  editor.focus();
}

/** Copies the operation at the cursor as a link or as code, in which a key of a demo is no secret. */
async function copyAs({ target }) {
  const format = target.value;
  // The same format can be chosen again.
  target.value = '';
  const status = control('copy-status');
  status.textContent = '';
  const editor = operationEditor();
  const query = editor.getValue();
  const offset = editor.getModel().getOffsetAt(editor.getPosition());
  const operationName = operationsOf(query).find(({ end }) => offset <= end)?.name;
  const key = demoKeys?.[fieldKey()] ? fieldKey() : apiKey || keyPlaceholder;
  const url = location.origin + location.pathname;
  try {
    const code = codeOf(format, { url, key, query, variables: variablesText(), operationName });
    await navigator.clipboard.writeText(code);
    status.textContent = `Copied as ${format}${apiKey ? '' : ', without the key'}.`;
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

/** Where GraphiQL remembers its tabs: only in this page, if the browser forbids to store them or has no room. */
let storage;
try {
  storage = localStorage;
  storage.setItem('graphiql:room', 'x'.repeat(50_000));
  storage.removeItem('graphiql:room');
} catch {
  const items = new Map();
  storage = {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => items.set(name, text),
    removeItem: (name) => items.delete(name),
    clear: () => items.clear(),
  };
  options.storage = storage;
}

/** An operation to open again. Its value is the JSON of `query` and `variables`. */
function operationOption(value) {
  const { query, variables } = JSON.parse(value);
  const [{ kind, name = kind } = { kind: 'operation' }] = operationsOf(query);
  return new Option(`${name} ${variables.replace(/\s+/g, ' ')}`.slice(0, 60), value);
}

/** Adds operations that are executed to the history, each once, and lists it. */
function updateHistory(...values) {
  try {
    const stored = JSON.parse(storage.getItem('graphiql:history') ?? '[]');
    const recent = [...new Set([...values, ...stored])].slice(0, 20);
    control('history').replaceChildren(...recent.map(operationOption));
    storage.setItem('graphiql:history', JSON.stringify(recent));
  } catch {
    // It is damaged, or there is no room.
    storage.removeItem('graphiql:history');
  }
}

/** Opens an operation of the list in a new tab. */
function openOperation({ target }) {
  const { query, variables } = JSON.parse(target.value);
  target.value = '';
  document.querySelector('.graphiql-tab-add').click();
  editorModel('operation.graphql').setValue(query);
  editorModel('variables.json').setValue(variables);
}
