import { type DocumentNode, visit } from 'graphql';

/** What a kept document takes at most, in bytes, by what the heap showed for many of them. */
const bytes = { document: 2048, character: 2, node: 1024 };

/**
 * What a document takes once it is kept: its text, its nodes with their tokens and locations, and the
 * code that is compiled for it.
 */
export function documentBytes(text: string, document: DocumentNode): number {
  let nodes = 0;
  visit(document, {
    enter() {
      nodes++;
    },
  });
  return bytes.document + text.length * bytes.character + nodes * bytes.node;
}
