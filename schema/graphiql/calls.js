// Runs in the browser, before page.js: the REST calls of a result as a waterfall.

/** Creates an HTML element from its properties, and from text and elements. */
function createElement(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** Shows the entries of `extensions.calls` below the result; nothing without a list: none has arrived yet. */
function showCalls(calls) {
  const panel = document.getElementById('calls');
  panel.hidden = calls === undefined;
  if (calls === undefined) return;
  const end = Math.max(0, ...calls.map(({ startMs, durationMs }) => startMs + durationMs));
  const title = `${calls.length} REST call${calls.length === 1 ? '' : 's'} in ${milliseconds(end)}`;
  const summary = createElement('summary', {}, calls.length === 0 ? 'No REST calls.' : title);
  const heads = row('th', ['Field', 'Call', 'Status', 'Time', 'Details']);
  const rows = calls.map((call) => row('td', cellsOf(call, end)));
  const table = createElement('table', { hidden: calls.length === 0 }, heads, ...rows);
  panel.firstElementChild.replaceChildren(summary, table);
}

const row = (cell, contents) =>
  createElement('tr', {}, ...contents.map((content) => createElement(cell, {}, content)));

/** One call, with its time as a bar on the scale of all calls. */
function cellsOf({ path, operation, method, target, status, startMs, durationMs, ...call }, end) {
  const percent = (ms) => (ms / (end || 1)) * 100;
  const className = status === null || status >= 400 ? 'failed' : '';
  const style = `margin-left: ${percent(startMs)}%; width: ${Math.max(percent(durationMs), 0.5)}%`;
  const { retries, bytes, shared, builtin } = call;
  const details = [milliseconds(durationMs), builtin ? 'built-in' : `${bytes} B`];
  if (retries > 0) details.push(retries === 1 ? '1 retry' : `${retries} retries`);
  if (shared) details.push('shared');
  return [
    path.join('.'),
    createElement('span', { title: operation }, `${method} ${target}`),
    String(status ?? 'no response'),
    createElement('div', { className }, createElement('div', { style })),
    details.join(', '),
  ];
}

function milliseconds(ms) {
  return `${ms.toFixed(1)} ms`;
}
