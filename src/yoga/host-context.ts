import type { CallsContext } from '../graphql/calls.ts';

/** The checked parameters of a GraphQL request (GraphQL over HTTP, section 5.1). */
export interface GraphqlParams {
  /** The text of the document; undefined if only its hash was sent. */
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** Only `persistedQuery` and `clientLibrary` are read. */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** The hash of a document (GraphQL over HTTP, appendix "Persisted Documents"). */
  readonly documentId?: string | undefined;
}

/** The context of one operation for a host. The types of this file need no bundled packages. */
export interface HostContext extends CallsContext {
  /** The parameters of the request, as Yoga's context has them. */
  readonly params: GraphqlParams;
  /** Members of a `Request` (WHATWG Fetch), if the host has plugins. */
  request?: Pick<Request, 'method' | 'url' | 'headers'>;
}
