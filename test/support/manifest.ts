import { fileURLToPath } from 'node:url';

/** The path of the manifest of persisted documents that codegen writes. */
export const manifestFile = fileURLToPath(
  new URL('../../packages/client/persisted-documents.json', import.meta.url),
);
