import type { DocumentNode } from 'graphql';

/**
 * The identifier of a document in the manifest of persisted documents: `sha256:` and 64 hexadecimal
 * digits (GraphQL over HTTP, appendix "Persisted Documents").
 * @throws TypeError for a document that was generated without `persistedDocuments`.
 */
export function persistedHash(document: DocumentNode): string {
  const { __meta__: meta } = document as { readonly __meta__?: { readonly hash?: unknown } };
  if (typeof meta?.hash === 'string') return meta.hash;
  throw new TypeError(
    'Expected a document generated with presetConfig.persistedDocuments, received one without a hash.',
  );
}
