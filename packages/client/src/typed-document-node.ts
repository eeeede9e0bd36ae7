import type { DocumentNode } from 'graphql';

/**
 * A document that carries the types of its result and of its variables. The same shape as
 * `TypedDocumentNode` of `@graphql-typed-document-node/core`, which GraphQL clients accept; declared
 * here because this package has no dependencies.
 */
export interface TypedDocumentNode<Result, Variables> extends DocumentNode {
  // Repeated for applications without graphql, where the base is unknown.
  readonly kind: DocumentNode['kind'];
  readonly definitions: DocumentNode['definitions'];
  /** For the type checker only: documents have no such property at run time. */
  __apiType?: (variables: Variables) => Result;
}
