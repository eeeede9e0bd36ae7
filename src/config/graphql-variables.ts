import { listOf, oneOf, onOff, onOffOrKeys, reloaded } from './kinds.ts';
import { inDevelopment, limit, setting, type Variable } from './variable.ts';

/** Which documents are executed, and what is shown of the schema. */
export const graphqlVariables = {
  GRAPHIQL: {
    ...setting('graphiql', onOff, inDevelopment),
    meaning: 'serve GraphiQL at `/graphql`; defaults to off in production, on otherwise',
  },
  INTROSPECTION: {
    ...setting('introspection', onOffOrKeys, inDevelopment),
    meaning:
      'allow introspection and suggest names ("Did you mean"); `keys`: allow introspection to accepted API keys, and suggest no names; defaults to off in production, on otherwise',
  },
  EXPLAIN: {
    ...setting('explain', onOff, (textOf) => textOf('GRAPHIQL')),
    meaning:
      'let a request with the header `x-petstore-explain: 1` receive its REST calls in `extensions.calls`; defaults to the value of `GRAPHIQL`',
  },
  PERSISTED_DOCUMENTS: {
    ...setting('persistedDocuments.mode', oneOf('off', 'allow', 'audit', 'only'), 'off'),
    meaning:
      '`allow`: accept documents by their hash or as text; `audit`: the same, and log the documents that `only` would refuse; `only`: accept persisted documents only',
  },
  PERSISTED_DOCUMENTS_FILE: {
    ...setting('persistedDocuments.files', reloaded(listOf('paths of JSON files', Boolean))),
    meaning: "manifests of persisted documents, in the format of codegen's client preset or Apollo",
  },
  MAX_TOKENS: limit('operationLimits.maxTokens', '1000', 'number of tokens in a GraphQL document'),
  MAX_DEPTH: limit(
    'operationLimits.maxDepth',
    '10',
    'depth of the fields in an operation; introspection is counted separately',
  ),
  MAX_ALIASES: limit('operationLimits.maxAliases', '30', 'number of aliases in an operation'),
  MAX_DIRECTIVES: limit(
    'operationLimits.maxDirectives',
    '50',
    'number of directives in an operation',
  ),
  MAX_ROOT_FIELDS: limit(
    'operationLimits.maxRootFields',
    '20',
    'number of root fields and deferred fragments in an operation',
  ),
  MAX_FIELDS: limit(
    'operationLimits.maxFields',
    '1000',
    'number of fields in an operation, with fragments expanded',
  ),
} as const satisfies Record<string, Variable>;
