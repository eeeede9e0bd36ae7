// Runs in the browser, before GraphiQL's own script: the controls that this gateway adds to GraphiQL.

/** GraphiQL's own button. */
const refetchButton = 'button[aria-label^="Re-fetch GraphQL schema"]';

/**
 * Moves the controls beside the run button and the calls below the result, once GraphiQL shows them: it
 * accepts no elements of others there. Where these are not found, the controls stay above GraphiQL.
 */
function placeControls() {
  const editor = document.querySelector('[data-uri$="operation.graphql"]');
  const result = document.querySelector('.graphiql-response');
  if (!editor || !result) return false;
  editor.closest('section').prepend(control('controls'));
  result.prepend(control('outcome'));
  result.append(control('calls'));
  // Scrolled with the keyboard.
  control('calls').tabIndex = 0;
  // Each list needs the editor.
  for (const list of control('controls').querySelectorAll('select')) list.disabled = false;
  // Where an editor ends, the page scrolls on.
  for (const editor of globalThis.__MONACO.editor.getEditors()) {
    editor.updateOptions({ scrollbar: { alwaysConsumeMouseWheel: false } });
  }
  selectOperation(linkedOperation);
  return true;
}

/** Says of each "Close Tab" which. */
function labelTabs() {
  for (const close of document.querySelectorAll('.graphiql-tab-close')) {
    close.setAttribute('aria-label', `Close tab ${close.previousElementSibling.textContent}`);
  }
}

/**
 * Ctrl-Enter executes the operation at the cursor, wherever the focus is; GraphiQL does so in its editors. So
 * does Enter in the key field. Esc moves the focus from an editor to the element around it, from where Tab
 * goes on. While suggestions are open, it closes only them.
 */
function handleKey(event) {
  const { key, target } = event;
  const editor = '[aria-roledescription="editor"]:not([aria-haspopup="true"])';
  if (key === 'Escape' && target.matches(editor)) target.closest('[tabindex="0"]').focus();
  const isControl = event.ctrlKey || event.metaKey;
  if (key !== 'Enter' || !(isControl || target.id === 'key')) return;
  // GraphiQL and its editor would both execute in the Find box, and a key that is held down would also stop.
  if (target.closest('.find-widget') || event.repeat) event.stopImmediatePropagation();
  else if (!target.closest('.monaco-editor')) {
    event.preventDefault();
    event.stopImmediatePropagation();
    operationEditor()?.getAction('graphql-run').run();
  }
}

/** Runs a query with the key that was chosen, also while it runs with another; a mutation is left to the user. */
function tryState() {
  const editor = operationEditor();
  const kinds = operationsOf(editor.getValue()).map(({ kind }) => kind);
  if (!kinds.length || kinds.some((kind) => kind !== 'query')) {
    reportOutcome(activeTab, { line: 'Press ▶ to run the operation with this key.' });
  } else {
    stopRunning();
    editor.getAction('graphql-run').run();
  }
}

if (!navigator.clipboard) {
  Object.defineProperty(navigator, 'clipboard', { value: { writeText: copyBySelection } });
}
control('key').value = apiKey;
control('key').addEventListener('input', ({ target }) => {
  const key = target.value.replace(/^\s*(?:Authorization:\s*)?Bearer\s+/i, '');
  if (key !== target.value) target.value = key;
  reportKey('');
});
// GraphiQL loads the schema when it opens, mostly before there is a key.
control('key').addEventListener('change', () => {
  if (introspectsWithKey) document.querySelector(refetchButton)?.click();
});
if (demoKeys) {
  // The keys of a demo are no secrets.
  control('key').type = 'text';
  const list = Object.entries(demoKeys).map(([key, { title }]) => new Option(title, key));
  control('demo-keys').append(new Option('Succeeds', apiKey), ...list);
  control('demo-keys').hidden = false;
  control('demo-keys').addEventListener('change', ({ target }) => {
    control('key').value = target.value;
    target.value = '';
    reportKey('');
    tryState();
  });
}
// A small window, or one that is zoomed in, has room for the operation and its result.
if (matchMedia('(max-width: 900px), (max-height: 600px)').matches) {
  options.defaultEditorToolsVisibility = false;
  control('calls').firstElementChild.open = false;
}
control('reference').hidden = !reference;
control('reference').href = location.pathname.replace(/\/graphql\/?$/, '/v1/docs');
control('explain-label').hidden = !explain;
control('explain').checked = explain;
control('explain').addEventListener('change', () => showOutcome());
control('copy').append(...Object.keys(codeFormats).map((format) => new Option(format)));
control('copy').addEventListener('change', copyAs);
control('open-operation').addEventListener('change', openOperation);
control('examples').append(
  ...options.defaultTabs.map((tab) => operationOption(JSON.stringify(tab))),
);
updateHistory();
openLink();
// Before the editor handles the key.
window.addEventListener('keydown', handleKey, { capture: true });
let arePlaced = false;
new MutationObserver(() => {
  arePlaced ||= placeControls();
  labelTabs();
}).observe(control('root'), { childList: true, subtree: true });
