import { createHash } from 'node:crypto';
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
  /** A manifest of documents under the SHA-256 of their text, in codegen's or Apollo's format. */
  readonly file: string | undefined;
}

/**
 * Reads the manifest and verifies its hashes.
 * @throws when the file can't be read or is no manifest, naming what was expected and found.
 */
export async function openPersistedDocuments({
  mode,
  file,
}: PersistedDocumentsOptions): Promise<PersistedDocuments> {
  if (mode === 'off' || file === undefined) return { mode, manifest: new Map() };
  try {
    return { mode, manifest: decodeManifest(JSON.parse(await readFile(file, 'utf8'))) };
  } catch (cause) {
    throw new Error(
      `PERSISTED_DOCUMENTS_FILE: expected a manifest of documents by their SHA-256, in codegen's or Apollo's format, in ${file}, found: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function decodeManifest(json: unknown): PersistedDocuments['manifest'] {
  const manifest = new Map<string, string>();
  for (const [id, document] of readEntries(json)) {
    if (typeof id !== 'string') throw new TypeError('an operation without an id');
    const place = `at ${JSON.stringify(id)}`;
    if (typeof document !== 'string') throw new TypeError(`${place}, no text`);
    try {
      parse(document);
    } catch (cause) {
      throw new TypeError(`${place}, ${(cause as Error).message}`, { cause });
    }
    const hash = createHash('sha256').update(document).digest('hex');
    if (withoutPrefix(id) !== hash) {
      throw new TypeError(`${place}, a document with the SHA-256 ${hash}`);
    }
    manifest.set(hash, document);
  }
  if (manifest.size === 0) throw new TypeError('no documents');
  return manifest;
}

/**
 * Pairs of hash and document: codegen's client preset writes one object of them, Apollo's
 * generate-persisted-query-manifest a list of operations.
 */
function readEntries(json: unknown): (readonly [id: unknown, document: unknown])[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new TypeError('JSON that is not an object');
  }
  if (!('format' in json)) return Object.entries(json);
  if (json.format !== 'apollo-persisted-query-manifest') {
    throw new TypeError(`the format ${JSON.stringify(json.format)}`);
  }
  const { operations } = json as { readonly operations?: unknown };
  if (!Array.isArray(operations)) throw new TypeError('no list of operations');
  return operations.map((operation) => [operation?.id, operation?.body]);
}

/** The digits of a hash: clients and manifests may name the algorithm before them. */
export function withoutPrefix(hash: string): string {
  return hash.replace(/^sha256:/, '');
}
