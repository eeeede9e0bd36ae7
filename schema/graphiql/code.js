// Runs in the browser, before page.js: the operation of a tab as code to copy.

/** Stands for the key, which is never copied. */
const keyPlaceholder = 'YOUR_API_KEY';

/** The operations of a document, each with its kind and its name. Reads no more of it. */
function operationsOf(query) {
  const strip = (text, group, replacement) => {
    const stripped = text.replace(group, replacement);
    return stripped === text ? text : strip(stripped, group, replacement);
  };
  const withoutTexts = query.replace(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#.*/g, ' ');
  const heads = strip(strip(withoutTexts, /\([^()]*\)/g, ' '), /\{[^{}]*\}/g, ';').split(';');
  return heads
    .slice(0, -1)
    .map((head) => head.trim().split(/[\s@]+/))
    .filter(([kind]) => kind !== 'fragment')
    .map(([kind, name]) => ({ kind: kind || 'query', name }));
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

/** A text as a template literal. */
const template = (text) => `\`${text.trim().replace(/[\\`]|\$\{/g, '\\$&')}\``;

/**
 * The document as code: that of the client package if it is one, or else its text, in `gql` if there is
 * one. Returns its imports, too.
 */
function documentCode({ query, name, isPublished }, client, gql = '') {
  return isPublished
    ? {
        imports: `import { ${name}Document } from '${client}';\n`,
        lines: '',
        use: `${name}Document`,
      }
    : { imports: '', lines: `const document = ${gql}${template(query)};\n`, use: 'document' };
}

/** The formats of the list, by name. Each returns the code for an operation. */
const codeFormats = {
  curl({ url, query, operationName, variables }) {
    const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
    const members = [`"query":${JSON.stringify(query)}`, `"variables":${variables.trim() || '{}'}`];
    if (operationName) members.push(`"operationName":${JSON.stringify(operationName)}`);
    return `curl ${quote(url)} \\
  -H 'Authorization: Bearer ${keyPlaceholder}' \\
  -H 'Content-Type: application/json' \\
  --data-raw ${quote(`{${members.join()}}`)}
`;
  },

  fetch({ url, query, operationName, variables }) {
    const name = operationName ? `\n    operationName: '${operationName}',` : '';
    return `const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    authorization: 'Bearer ${keyPlaceholder}',
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    query: ${template(query)},${name}
    variables: ${indent(indent(variablesCode(variables)))},
  }),
});
const { data, errors } = await response.json();
console.log(data, errors);
`;
  },

  'Apollo Client'(operation) {
    const { url, query, kind, variables } = operation;
    const { imports, lines, use } = documentCode(operation, 'petstore-gateway-client', 'gql');
    const gql = lines && 'gql, ';
    const isDeferred = /@defer\b/.test(query);
    const [method, member] = kind === 'mutation' ? ['mutate', 'mutation'] : ['query', 'query'];
    return `import { ApolloClient, ${gql}HttpLink, InMemoryCache } from '@apollo/client';
${isDeferred ? "import { GraphQL17Alpha9Handler } from '@apollo/client/incremental';\n" : ''}${imports}
const client = new ApolloClient({
  link: new HttpLink({
    uri: '${url}',
    headers: { authorization: 'Bearer ${keyPlaceholder}' },
  }),
  cache: new InMemoryCache(),${isDeferred ? '\n  incrementalHandler: new GraphQL17Alpha9Handler(),' : ''}
});
${lines}const { data, error } = await client.${method}({
  ${member}: ${use},
  variables: ${indent(variablesCode(variables))},
  errorPolicy: 'all',
});
console.log(data, error);
`;
  },

  urql(operation) {
    const { url, kind, variables } = operation;
    const { imports, lines, use } = documentCode(operation, 'petstore-gateway-client', 'gql');
    return `import { Client, fetchExchange${lines && ', gql'} } from '@urql/core';
${imports}
const client = new Client({
  url: '${url}',
  fetchOptions: { headers: { authorization: 'Bearer ${keyPlaceholder}' } },
  exchanges: [fetchExchange],
});
${lines}const { data, error } = await client.${kind}(${use}, ${variablesCode(variables)});
console.log(data, error);
`;
  },

  'gateway.execute'(operation) {
    const { imports, lines, use } = documentCode(operation, 'petstore-gateway/client');
    return `import { createGateway, loadConfig } from 'petstore-gateway';
${imports}
await using gateway = await createGateway(loadConfig(process.env));
${lines}const { data, errors } = await gateway.execute(${use}, ${variablesCode(operation.variables)}, {
  authorization: 'Bearer ${keyPlaceholder}',
});
console.log(data, errors);
`;
  },
};

/** Returns the code for an operation of a document. @throws an Error if it needs one operation */
function codeOf(format, { published, operationName, ...tab }) {
  const operations = operationsOf(tab.query);
  const isHttp = format === 'curl' || format === 'fetch';
  if (operations.length !== 1 && !isHttp) {
    throw new Error(`Expected one operation in this tab, found ${operations.length}.`);
  }
  const [{ kind, name } = {}] = operations;
  if (!/^(?:query|mutation)?$/.test(kind ?? ''))
    throw new Error(`Expected an operation, found ${kind}.`);
  JSON.parse(tab.variables.trim() || '{}');
  const isPublished = published.some((query) => query.trim() === tab.query.trim());
  const isNamed = operations.length > 1 && /^\w+$/.test(operationName ?? '');
  const named = isNamed ? { operationName } : {};
  const url = tab.url.replaceAll("'", '%27');
  return codeFormats[format]({ ...tab, ...named, url, kind, name, isPublished });
}
