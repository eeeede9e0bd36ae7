import type { DocumentNode } from 'graphql';

/**
 * A document with the types of its result and variables. Equals `TypedDocumentNode` of
 * `@graphql-typed-document-node/core`, which GraphQL clients accept, but needs no dependency.
 */
export interface TypedDocumentNode<Result, Variables> extends DocumentNode {
  // Repeated for applications without graphql, in which the base type is unknown.
  readonly kind: DocumentNode['kind'];
  readonly definitions: DocumentNode['definitions'];
  /** For the type checker only: documents have no such property at run time. */
  __apiType?: (variables: Variables) => Result;
}
