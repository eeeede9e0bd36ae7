import { readFileSync } from 'node:fs';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform, preset } from '@graphql-codegen/client-preset';
import { type DocumentNode, type FragmentDefinitionNode, Kind, visit } from 'graphql';
import { announcedIn } from './schema/changes.ts';
import { keepReleased } from './schema/document-changes.ts';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

type CodegenPlugin = Awaited<
  ReturnType<typeof preset.buildGeneratesSection>
>[number]['pluginMap'][string];

/** The plugin that writes a manifest, with the documents of releases added to those of the sources. */
function withReleased({ plugin }: CodegenPlugin): CodegenPlugin {
  return {
    async plugin(...parameters) {
      const output = await plugin(...parameters);
      const sources = JSON.parse(typeof output === 'string' ? output : output.content);
      const released = JSON.parse(read('packages/client/released/persisted-documents.json'));
      const manifest = keepReleased(sources, released, announcedIn(read('CHANGELOG.md')));
      return JSON.stringify(manifest, null, 2);
    },
  };
}

/**
 * The client preset for a package without dependencies. Documents have the package's own type, and
 * there is no `graphql()` function, which would add every document to every bundle.
 */
const clientPackage: typeof preset = {
  ...preset,
  async buildGeneratesSection(options) {
    const files = await preset.buildGeneratesSection(options);
    return files
      .filter(({ filename }) => !filename.endsWith('/gql.ts'))
      .map((file) => ({
        ...file,
        filename: file.filename.replace('/graphql.ts', '/src/documents.ts'),
        config: {
          ...file.config,
          documentNodeImport: './typed-document-node.ts#TypedDocumentNode',
        },
        pluginMap: Object.fromEntries(
          Object.entries(file.pluginMap).map(([name, plugin]) => [
            name,
            name === 'persisted-operations' ? withReleased(plugin) : plugin,
          ]),
        ),
      }));
  },
};

/**
 * Puts the fields of `schema/fragments` where they are used: Apollo Client with `dataMasking` hides the
 * fields of a fragment from the code that executes a packaged document.
 */
const inlineFragments: typeof addTypenameSelectionDocumentTransform = {
  transform({ documents }) {
    const isShared = (location = '') => location.includes('/fragments/');
    const shared = new Map<string, FragmentDefinitionNode>(
      documents
        .flatMap(({ location, document }) =>
          isShared(location) ? (document?.definitions ?? []) : [],
        )
        .flatMap((one) =>
          one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
        ),
    );
    return documents
      .filter(({ location }) => !isShared(location))
      .map((file) => ({
        ...file,
        document: visit(file.document as DocumentNode, {
          SelectionSet: (set) => ({
            ...set,
            selections: set.selections.flatMap((one) =>
              one.kind === Kind.FRAGMENT_SPREAD
                ? (shared.get(one.name.value)?.selectionSet.selections ?? one)
                : one,
            ),
          }),
        }),
      }));
  },
};

const config = {
  useTypeImports: true,
  importExtension: '.ts',
  emitLegacyCommonJSImports: false,
  scalars: {
    ID: { input: 'string | number', output: 'string' },
    DateTime: 'string',
    JSON: 'unknown',
  },
  enumsAsTypes: true,
} as const;

/** Generates the printed schema, what pages quote, and the typed documents. */
const codegen: CodegenConfig = {
  schema: 'src/petstore/graphql/schema.ts',
  generates: {
    'README.md': { plugins: ['./schema/readme.ts'] },
    'docs/configuration.md': { plugins: ['./schema/configuration.ts'] },
    'schema/schema.graphql': { plugins: ['./schema/print.ts'] },
    'packages/client/schema.graphql': { plugins: ['./schema/print.ts'] },
    'schema/semantic-non-null.graphql': { plugins: ['./schema/semantic-non-null.ts'] },
    'packages/client/semantic-non-null.graphql': { plugins: ['./schema/semantic-non-null.ts'] },
    'packages/client/': {
      preset: clientPackage,
      documents: 'schema/{fragments,operations}/*.graphql',
      presetConfig: {
        fragmentMasking: false,
        skipIndexFile: true,
        persistedDocuments: { hashAlgorithm: 'sha256' },
      },
      // Clients with a normalised cache add __typename, so the hashes must include it.
      documentTransforms: [inlineFragments, addTypenameSelectionDocumentTransform],
      config,
    },
    'examples/web/src/graphql/': {
      preset: 'client',
      documents: 'examples/web/src/**/*.tsx',
      presetConfig: { fragmentMasking: false, skipIndexFile: true },
      // Apollo Client masks fragments, so the types must be masked too.
      config: { ...config, inlineFragmentTypes: 'mask' },
    },
  },
};

export default codegen;
