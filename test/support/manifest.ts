import { fileURLToPath } from 'node:url';

/** The manifest of the named operations, as codegen writes it. */
export const manifestFile = fileURLToPath(
  new URL('../../src/client/documents/persisted-documents.json', import.meta.url),
);
