// Runs in the browser, first: what the page was rendered with, and the API key.

const {
  workers,
  apiKey = '',
  demoKeys,
  explain,
  reference,
  introspectsWithKey,
  ...options
} = JSON.parse(document.getElementById('options').textContent);

/** GraphiQL's script replaces these by its own, which refuse numbers such as 1e400. */
const { parse, stringify } = JSON;

const control = (id) => document.getElementById(id);

const fieldKey = () => control('key').value.trim();

/**
 * The headers of a request: those of the controls, then those of the tab, which win; and the key of the
 * field if it is sent. Headers are undefined if the key cannot be sent.
 */
function requestHeaders(tabHeaders = {}) {
  const key = fieldKey();
  if (!/^[\w.~+/-]*=*$/.test(key)) {
    reportKey('An API key has only the characters A-Z a-z 0-9 . _ ~ + / - =.');
    return {};
  }
  const fromTab = new Headers(tabHeaders);
  const headers = new Headers({
    ...(key && { authorization: `Bearer ${key}` }),
    ...(control('explain').checked && { 'x-petstore-explain': '1' }),
    ...Object.fromEntries(fromTab),
  });
  return { headers, key: fromTab.has('authorization') ? undefined : key };
}

/** Shows beside the key what is wrong with it; an empty text means nothing. */
function reportKey(problem) {
  control('key-problem').textContent = problem;
  control('key').setAttribute('aria-invalid', problem !== '');
}
