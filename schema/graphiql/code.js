// Runs in the browser, before page.js: the operation of a tab as a link or as code to copy.

/** Longer links are refused by many servers and proxies. */
const maxLinkLength = 8000;

/** Stands for a key that is a secret, and is never copied. */
const keyPlaceholder = 'YOUR_API_KEY';

/**
 * The operations of a document: kind, name, and where each ends. Reads no more of it. What is left out of
 * the text is replaced by spaces, so that positions stay the same.
 */
function operationsOf(query) {
  const blank = (last) => (found) => last.padStart(found.length);
  const strip = (text, group, last) => {
    const stripped = text.replace(group, blank(last));
    return stripped === text ? text : strip(stripped, group, last);
  };
  const withoutTexts = query.replace(
    /"""(?:\\"""|[\s\S])*?"""|"(?:[^"\\\n]|\\.)*"|#.*/g,
    blank(' '),
  );
  const heads = strip(strip(withoutTexts, /\([^()]*\)/g, ' '), /\{[^{}]*\}/g, ';').split(';');
  let end = 0;
  return heads
    .slice(0, -1)
    .map((head) => {
      end += head.length + 1;
      const [kind, name] = head.trim().split(/[\s@]+/);
      return { kind: kind || 'query', name, end };
    })
    .filter(({ kind }) => kind !== 'fragment');
}

/** Indents the lines after the first. */
const indent = (text) => text.replaceAll('\n', '\n  ');

/** The variables as JavaScript: integers that it would round are strings. */
function variablesCode(variables) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  const isRounded = (text) => /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text));
  const code = variables.replace(token, (text) => (isRounded(text) ? `"${text}"` : text));
  return code.trim() || '{}';
}

/** A document without the lines that are only a comment, which the examples begin with. */
function withoutComments(query) {
  const keepText = (token) => (token.startsWith('"') ? token : '');
  return query.replace(/"""(?:\\"""|[\s\S])*?"""|"(?:[^"\\\n]|\\.)*"|^[ \t]*#.*\n?/gm, keepText);
}

/** What code that reads orders should know of `JSON.parse`. */
const roundingNote = (query) =>
  /\borders\b/.test(query)
    ? '// Integers beyond 2^53 in orders are rounded. To keep their digits, read the text of the response\n// with parseJson of petstore-gateway-client.\n'
    : '';

/** A text as a template literal. */
const template = (text) => `\`${text.trim().replace(/[\\`]|\$\{/g, '\\$&')}\``;

/** The formats of the list, by name. Each returns the code for an operation. */
const codeFormats = {
  Link({ url, query, operationName, variables }) {
    const link = new URL(url);
    link.searchParams.set('query', query);
    if (variables.trim()) link.searchParams.set('variables', variables);
    if (operationName) link.searchParams.set('operationName', operationName);
    if (link.href.length <= maxLinkLength) return link.href;
    throw new Error(`It is too long for a link, at most ${maxLinkLength} characters.`);
  },

  curl({ url, key, query, operationName, variables }) {
    const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
    const members = [`"query":${JSON.stringify(query)}`, `"variables":${variables.trim() || '{}'}`];
    if (operationName) members.push(`"operationName":${JSON.stringify(operationName)}`);
    return `curl ${quote(url)} \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  --data-raw ${quote(`{${members.join()}}`)}
`;
  },

  fetch({ url, key, query, operationName, variables }) {
    const name = operationName ? `\n    operationName: '${operationName}',` : '';
    return `const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    authorization: 'Bearer ${key}',
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    query: ${template(query)},${name}
    variables: ${indent(indent(variablesCode(variables)))},
  }),
});
${roundingNote(query)}const { data, errors } = await response.json();
console.log(data, errors);
`;
  },

  'Apollo Client'({ url, key, query, kind, variables }) {
    const isDeferred = /@defer\b/.test(query);
    const [method, member] = kind === 'mutation' ? ['mutate', 'mutation'] : ['query', 'query'];
    return `// npm install @apollo/client graphql rxjs
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
${isDeferred ? "import { GraphQL17Alpha9Handler } from '@apollo/client/incremental';\n" : ''}
const client = new ApolloClient({
  link: new HttpLink({
    uri: '${url}',
    headers: { authorization: 'Bearer ${key}' },
  }),
  cache: new InMemoryCache(),${isDeferred ? '\n  incrementalHandler: new GraphQL17Alpha9Handler(),' : ''}
});
const document = gql${template(query)};
${roundingNote(query)}const { data, error } = await client.${method}({
  ${member}: document,
  variables: ${indent(variablesCode(variables))},
  errorPolicy: 'all',
});
console.log(data, error);
`;
  },

  urql({ url, key, query, kind, variables }) {
    return `// npm install @urql/core graphql
import { Client, fetchExchange, gql } from '@urql/core';

const client = new Client({
  url: '${url}',
  fetchOptions: { headers: { authorization: 'Bearer ${key}' } },
  exchanges: [fetchExchange],
});
const document = gql${template(query)};
${roundingNote(query)}const { data, error } = await client.${kind}(document, ${variablesCode(variables)});
console.log(data, error);
`;
  },

  'gateway.execute'({ key, query, variables }) {
    return `// In a clone of the gateway: npm pack --pack-destination ..
// In your project beside it: npm install ../petstore-gateway-[0-9]*.tgz
import { createGateway, loadConfig } from 'petstore-gateway';

await using gateway = await createGateway(loadConfig(process.env));
const document = ${template(query)};
const { data, errors } = await gateway.execute(document, ${variablesCode(variables)}, {
  authorization: 'Bearer ${key}',
});
console.log(data, errors);
`;
  },
};

/** Returns the code for an operation of a document. @throws an Error if it needs one operation */
function codeOf(format, { operationName, ...tab }) {
  const operations = operationsOf(tab.query);
  const isHttp = ['Link', 'curl', 'fetch'].includes(format);
  if (operations.length !== 1 && !isHttp) {
    throw new Error(`Expected one operation in this tab, found ${operations.length}.`);
  }
  const [{ kind } = {}] = operations;
  if (!/^(?:query|mutation)?$/.test(kind ?? ''))
    throw new Error(`Expected an operation, found ${kind}.`);
  JSON.parse(tab.variables.trim() || '{}');
  const isNamed = operations.length > 1 && /^\w+$/.test(operationName ?? '');
  const named = isNamed ? { operationName } : {};
  const url = tab.url.replaceAll("'", '%27');
  const query = format === 'Link' ? tab.query : withoutComments(tab.query);
  return codeFormats[format]({ ...tab, ...named, query, url, kind });
}
