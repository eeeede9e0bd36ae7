import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { defineConfig } from 'rolldown';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import manifest from './package.json' with { type: 'json' };
import { listAssets, locateAsset } from './src/http/assets.ts';

const assets = fileURLToPath(new URL('src/http/assets.ts', import.meta.url));

/** The names of the assets: the texts in `schema/` that are read at run time, and Swagger UI. */
const assetNames = ['fragments', 'graphiql', 'operations', 'reference']
  .flatMap((folder) => {
    const files = readdirSync(new URL(`schema/${folder}`, import.meta.url));
    return files.map((file) => `${folder}/${file}`);
  })
  .concat('openapi.yaml', 'swagger-ui.css', 'swagger-ui-bundle.js');

const graphiql = fileURLToPath(import.meta.resolve('@graphql-yoga/render-graphiql/graphiql'));

/** Reads a text, or the texts of GraphiQL that are used. */
async function readText(file) {
  if (file !== graphiql) return readFile(file, 'utf8');
  const { favicon, ...texts } = await import(file);
  return JSON.stringify(texts);
}

/** The least effort with which Brotli refers to all of the text before. It takes a second. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };

/**
 * Puts each text into a module of its own, which is loaded when the text is first read. It is compressed,
 * because some bundlers of applications replace text such as `typeof window`, also within strings.
 */
const embedAssets = {
  name: 'embed-assets',
  resolveId(id) {
    if (!id.startsWith('asset:')) return undefined;
    const name = id.slice(6);
    return `${name === 'graphiql' ? graphiql : fileURLToPath(locateAsset(name))}?text`;
  },
  async load(id) {
    if (id.endsWith('?text')) {
      const bytes = brotliCompressSync(await readText(id.slice(0, -5)), { params });
      return { code: `export default '${bytes.toString('base64')}';`, moduleType: 'js' };
    }
    if (id !== assets) return undefined;
    const lists = {
      operations: await listAssets('operations'),
      fragments: await listAssets('fragments'),
    };
    const imports = [...assetNames, 'graphiql'].map(
      (name) => `  '${name}': () => import('asset:${name}'),`,
    );
    return `import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
export const listAssets = async (folder) => (${JSON.stringify(lists)})[folder];
const texts = {\n${imports.join('\n')}\n};
export const locateGraphiql = () => async () => JSON.parse(await readAsset('graphiql'));
export async function readAsset(name) {
  const bytes = Buffer.from((await texts[name]()).default, 'base64');
  return String(await promisify(brotliDecompress)(bytes));
}`;
  },
};

const schema = fileURLToPath(new URL('src/schema.ts', import.meta.url));

const peers = Object.keys(manifest.peerDependencies);

/**
 * Gives the entry for hosts with Yoga its own copy of the modules that use graphql, because it shares
 * graphql, Yoga and Pothos with its server. All other modules are in chunks that the entries share.
 */
const leavePeers = {
  name: 'leave-peers',
  async resolveId(id, importer) {
    const file = importer?.replace('?peers', '');
    if (file !== schema && file === importer) return undefined;
    if (peers.includes(id)) return { id, external: true };
    const resolved = await this.resolve(id, file, { skipSelf: true });
    const usesGraphql =
      /\/src\/(?:(?:petstore\/)?(?:graphql|yoga|execution)\/|(?:gateway|mounted)\.ts)/.test(
        resolved.id,
      );
    return usesGraphql ? `${resolved.id}?peers` : resolved;
  },
  async load(id) {
    if (!id.endsWith('?peers')) return undefined;
    return { code: await readFile(id.replace('?peers', ''), 'utf8'), moduleType: 'ts' };
  },
};

/** Writes the licenses of the packages in the build, which ask for that. */
const listLicenses = {
  name: 'list-licenses',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    const folders = modules.flatMap(
      (id) => /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? [],
    );
    const read = (folder, file) => readFileSync(join(folder, file), 'utf8');
    const entries = [...new Set(folders)].toSorted().map((folder) => {
      const { name, version, license } = JSON.parse(read(folder, 'package.json'));
      const texts = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
      return [`${name} ${version}, ${license}`, ...texts.map((file) => read(folder, file))].join(
        '\n\n',
      );
    });
    const source = entries.join(`\n${'-'.repeat(80)}\n\n`);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
  },
};

/**
 * Bundles the command and the library with all of their packages into a few files, because loading a
 * thousand modules took most of the startup time. The library contains its own graphql, so that it
 * works with any version that the application has; `petstore-gateway/schema` does not.
 */
export default defineConfig({
  input: { 'bin/main': 'src/bin.ts', index: 'src/index.ts', schema: 'src/schema.ts' },
  platform: 'node',
  tsconfig: false,
  resolve: {
    alias: {
      // Optional packages of pg and of the Redis client: their places stay empty.
      'pg-native': false,
      '@node-rs/xxhash': false,
      // Node's own fetch for Yoga, which brings another one for servers without.
      '@whatwg-node/fetch$': '@whatwg-node/fetch/dist/global-ponyfill.js',
    },
  },
  // pino reads it where it starts workers, which it does not here.
  transform: { define: { 'require.main': 'undefined' } },
  plugins: [
    embedAssets,
    leavePeers,
    // Bundlers of applications understand imports of Node's modules better than `require`.
    esmExternalRequirePlugin({ external: [/^node:/, ...builtinModules] }),
    listLicenses,
  ],
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' },
});
