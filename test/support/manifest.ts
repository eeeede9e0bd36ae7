import { fileURLToPath } from 'node:url';

/** The manifest of the named operations, as codegen writes it. */
export const manifestFile = fileURLToPath(
  new URL('../../packages/client/persisted-documents.json', import.meta.url),
);
