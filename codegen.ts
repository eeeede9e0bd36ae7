import type { CodegenConfig } from '@graphql-codegen/cli';

/** Writes what is derived from the code: the printed schema and the typed documents. */
const config: CodegenConfig = {
  schema: 'src/graphql/schema.ts',
  documents: 'schema/operations/*.graphql',
  generates: {
    'schema/schema.graphql': { plugins: ['./schema/print.ts'] },
    'test/support/documents/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
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
