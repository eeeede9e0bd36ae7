import { type AssetName, readAsset } from '../http/assets.ts';
import { createStaticFile, type StaticFile } from '../http/static-file.ts';

/** The files of the reference page: name below `/v1/docs`, asset and media type. */
const files: ReadonlyMap<string, readonly [asset: AssetName, type: string]> = new Map([
  ['', ['reference/page.html', 'text/html; charset=utf-8']],
  ['page.css', ['reference/page.css', 'text/css; charset=utf-8']],
  ['page.js', ['reference/page.js', 'text/javascript; charset=utf-8']],
  ['swagger-ui.css', ['swagger-ui.css', 'text/css; charset=utf-8']],
  ['swagger-ui-bundle.js', ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8']],
]);

/** The files of the reference page by name; the page itself has the name ''. */
export type Reference = ReadonlyMap<string, StaticFile>;

/** Creates the reference page. An API key is prefilled, so that the page starts authorized. */
export function createReference(apiKey: string | undefined): Reference {
  const reference = new Map<string, StaticFile>();
  for (const [name, [asset, type]] of files) {
    const headers = {
      // The page may contain an API key, which shared caches must not store.
      'cache-control': name === '' ? 'private, no-cache' : 'public, max-age=3600',
    };
    const read = async () => {
      const text = await readAsset(asset);
      if (name !== '' || !apiKey) return text;
      return text.replace('data-api-key=""', `data-api-key="${apiKey}"`);
    };
    reference.set(name, createStaticFile(type, headers, read));
  }
  return reference;
}
