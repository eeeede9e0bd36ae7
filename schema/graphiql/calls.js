// Runs in the browser, before page.js: the REST calls of a result as a waterfall.

/** Creates an HTML or SVG element from text and elements. */
function createElement(name, attributes, ...children) {
  const namespace =
    name === 'svg' || name === 'rect' ? 'http://www.w3.org/2000/svg' : document.body.namespaceURI;
  const element = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Shows the entries of `extensions.calls` below the result; nothing without a list: none has arrived yet. */
function showCalls(calls) {
  const panel = document.getElementById('calls');
  panel.hidden = calls === undefined;
  if (calls === undefined) return;
  const end = Math.max(0, ...calls.map(({ startMs, durationMs }) => startMs + durationMs));
  const heads = ['Field', 'Call', 'Status', 'Time', 'Details'].map((text) =>
    createElement('th', { scope: 'col' }, text),
  );
  const table = createElement(
    'table',
    {},
    createElement('thead', {}, createElement('tr', {}, ...heads)),
    createElement('tbody', {}, ...calls.map((call) => callRow(call, end))),
  );
  const title = `${calls.length} REST call${calls.length === 1 ? '' : 's'} in ${milliseconds(end)}`;
  const summary = createElement('summary', {}, calls.length === 0 ? 'No REST calls.' : title);
  panel.firstElementChild.replaceChildren(summary, ...(calls.length === 0 ? [] : [table]));
}

/** One call, with its time as a bar on the scale of all calls. */
function callRow(call, end) {
  const { path, operation, method, target, status, startMs, durationMs } = call;
  const failed = status === null || status >= 400;
  const percent = (ms) => (ms / (end || 1)) * 100;
  const bar = createElement(
    'svg',
    {
      viewBox: '0 0 100 10',
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
      class: failed ? 'failed' : '',
    },
    createElement('rect', {
      x: percent(startMs),
      width: Math.max(percent(durationMs), 0.5),
      height: 10,
    }),
  );
  const cells = [
    path.join('.'),
    createElement('span', { title: operation }, `${method} ${target}`),
    String(status ?? 'no response'),
    bar,
    [milliseconds(durationMs), ...details(call)].join(', '),
  ];
  return createElement('tr', {}, ...cells.map((cell) => createElement('td', {}, cell)));
}

function details({ retries, bytes, shared, builtin }) {
  const list = [builtin ? 'built-in' : `${bytes} B`];
  if (retries > 0) list.push(retries === 1 ? '1 retry' : `${retries} retries`);
  if (shared) list.push('shared');
  return list;
}

function milliseconds(ms) {
  return `${ms.toFixed(1)} ms`;
}
