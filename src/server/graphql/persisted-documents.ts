import { readFile } from 'node:fs/promises';
import { parse } from 'graphql';

/** Which documents are answered by their hash, and whether others are answered at all. */
export interface PersistedDocuments {
  /** `off`: none; `allow`: those of the manifest and those that clients register; `only`: the manifest's. */
  readonly mode: 'off' | 'allow' | 'only';
  /** Documents by their hash, without the prefix `sha256:`. */
  readonly manifest: ReadonlyMap<string, string>;
}

/** Where the documents are. Without a file the manifest is empty. */
export interface PersistedDocumentsOptions {
  readonly mode: PersistedDocuments['mode'];
  /** A JSON object from hashes to documents, as codegen's client preset writes it. */
  readonly file: string | undefined;
}

/** Reads the manifest. @throws when the file can't be read or is none, saying what was expected. */
export async function openPersistedDocuments({
  mode,
  file,
}: PersistedDocumentsOptions): Promise<PersistedDocuments> {
  if (mode === 'off' || file === undefined) return { mode, manifest: new Map() };
  try {
    return { mode, manifest: decodeManifest(JSON.parse(await readFile(file, 'utf8'))) };
  } catch (cause) {
    throw new Error(
      `PERSISTED_DOCUMENTS_FILE: expected a JSON object from hashes to documents in ${file}, found: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function decodeManifest(json: unknown): PersistedDocuments['manifest'] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new TypeError('JSON that is no object');
  }
  const manifest = new Map<string, string>();
  for (const [hash, document] of Object.entries(json)) {
    if (typeof document !== 'string') throw new TypeError(`no text at ${JSON.stringify(hash)}`);
    try {
      parse(document);
    } catch (cause) {
      throw new TypeError(`at ${JSON.stringify(hash)}, ${(cause as Error).message}`, { cause });
    }
    manifest.set(withoutPrefix(hash), document);
  }
  if (manifest.size === 0) throw new TypeError('none');
  return manifest;
}

/** The digits of a hash: clients and manifests may name the algorithm before them. */
export function withoutPrefix(hash: string): string {
  return hash.replace(/^sha256:/, '');
}
