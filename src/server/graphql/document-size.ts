import { type DocumentNode, visit } from 'graphql';

/** Upper bounds of the memory of a cached document, in bytes, from heap measurements. */
const bytes = { document: 2048, character: 2, node: 1024 };

/**
 * Estimates the memory of a cached document: its text, its nodes with tokens and locations, and the
 * code compiled for it.
 */
export function estimateDocumentSize(text: string, document: DocumentNode): number {
  let nodes = 0;
  visit(document, {
    enter() {
      nodes++;
    },
  });
  return bytes.document + text.length * bytes.character + nodes * bytes.node;
}
