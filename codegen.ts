import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';

/** Writes what is derived from the code: the printed schema and the typed documents. */
const config: CodegenConfig = {
  schema: 'schema/stability.ts',
  documents: 'schema/operations/*.graphql',
  generates: {
    'schema/schema.graphql': { plugins: ['./schema/print.ts'] },
    'src/graphql/operation-stability.ts': { plugins: ['./schema/stability.ts'] },
    'src/client/documents/': {
      preset: 'client',
      presetConfig: {
        fragmentMasking: false,
        skipIndexFile: true,
        persistedDocuments: { hashAlgorithm: 'sha256' },
      },
      // Clients with a normalised cache ask for it anyway; so the hashes are of what they send.
      documentTransforms: [addTypenameSelectionDocumentTransform],
      config: {
        useTypeImports: true,
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
        scalars: {
          ID: { input: 'string | number', output: 'string' },
          DateTime: 'string',
          JSON: 'unknown',
        },
        enumsAsTypes: true,
      },
    },
  },
};

export default config;
