// Runs in the browser: Swagger UI on this server's description.

const { apiKey, graphiql } = document.getElementById('reference').dataset;

document.getElementById('graphiql').hidden = !graphiql;
document.getElementById('key').hidden = !apiKey;
document.querySelector('#key code').textContent = apiKey;

/** Swagger UI has a dark theme, and leaves the choice to its page. */
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const followPreference = () =>
  document.documentElement.classList.toggle('dark-mode', prefersDark.matches);
prefersDark.addEventListener('change', followPreference);
followPreference();

/** Shows what an operation is marked with, and offers no try-it panel where the document says so. */
function operationMarks({ specSelectors, React }) {
  const operationAt = (path, method) => specSelectors.specJson().getIn(['paths', path, method]);
  const mark = (text) => React.createElement('span', { className: 'operation-mark' }, text);
  return {
    wrapComponents: {
      OperationSummaryPath: (Original) => (props) => {
        const { path, method } = props.operationProps.toObject();
        const operation = operationAt(path, method);
        return React.createElement(
          React.Fragment,
          null,
          React.createElement(Original, props),
          operation.get('deprecated') && mark('deprecated'),
          operation.has('x-stability') && mark(operation.get('x-stability')),
        );
      },
    },
    statePlugins: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor: () => (_state, path, method) =>
            operationAt(path, method).get('x-explorer-enabled') !== false,
        },
      },
    },
  };
}

/**
 * Lists the tags above the operations, without the navigation groups, which have no operations. Those that
 * have no tag, whose name is "default" here, have no heading.
 */
function tagNavigation({ React }) {
  const element = React.createElement;
  const item = ([name, section]) => {
    const href = `#operations-tag-${name.replaceAll(' ', '_')}`;
    const description = section.getIn(['tagDetails', 'description']);
    return element(
      'li',
      { key: name },
      element('a', { href }, name),
      description && element('span', null, description),
    );
  };
  return {
    wrapComponents: {
      operations: (Original) => (props) => {
        const tags = props.specSelectors.taggedOperations().delete('default');
        const items = tags.entrySeq().map(item);
        const list = element('ul', null, items);
        return element(
          React.Fragment,
          null,
          element('nav', { className: 'tag-navigation', 'aria-label': 'Tags' }, list),
          element(Original, props),
        );
      },
      OperationTag: (Original) => (props) =>
        props.tag === 'default' ? props.children : element(Original, props),
    },
    statePlugins: {
      spec: {
        wrapSelectors: {
          taggedOperations:
            (original) =>
            (state, ...rest) =>
              original(state, ...rest).filter((section) => section.get('operations').size > 0),
        },
      },
    },
  };
}

/** Adds to this server's addresses the prefix that a proxy may have removed from that of this page. */
function prefixedServers() {
  const prefix = location.pathname.replace(/\/v1\/docs$/, '');
  const addPrefix = ({ servers = [] }) => {
    for (const server of servers) if (server.url.startsWith('/')) server.url = prefix + server.url;
  };
  return {
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: (update) => (document) => {
            [document, ...Object.values(document.paths ?? {})].forEach(addPrefix);
            return update(document);
          },
        },
      },
    },
  };
}

/** Shows JSON answers with all the digits of their numbers. */
function exactAnswers({ getComponent, React }) {
  return {
    wrapComponents: {
      responseBody: (Original) => (props) => {
        if (!/json/.test(props.contentType)) return React.createElement(Original, props);
        const highlighted = React.createElement(
          getComponent('HighlightCode', true),
          { language: 'json', canCopy: true, downloadable: true, fileName: 'response.json' },
          indent(props.content),
        );
        return React.createElement(
          'div',
          null,
          React.createElement('h5', null, 'Response body'),
          highlighted,
        );
      },
    },
  };
}

/** The text as it is where it is no JSON, or the browser has no JSON.rawJSON yet. */
function indent(text) {
  const keepDigits = (_key, value, { source }) =>
    typeof value === 'number' ? JSON.rawJSON(source) : value;
  try {
    return JSON.stringify(JSON.parse(text, keepDigits), null, 2);
  } catch {
    return text;
  }
}

const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // Swagger UI would ask a service elsewhere to validate the document.
  validatorUrl: null,
  plugins: [operationMarks, tagNavigation, prefixedServers, exactAnswers],
  onComplete: () => {
    if (apiKey) ui.preauthorizeApiKey('bearerAuth', apiKey);
  },
});
