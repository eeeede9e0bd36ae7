import { hash as digest } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'graphql';

/** The documents that clients may request by hash. */
export interface PersistedDocuments {
  /**
   * `off`: clients send documents as text. `allow`: as text, or as the hash of one in the manifest
   * or registered by a client. `only`: as the hash of one in the manifest.
   */
  readonly mode: 'off' | 'allow' | 'only';
  /** Documents by hash, without the prefix `sha256:`. Replaced when the manifests are read again. */
  manifest: ReadonlyMap<string, string>;
}

/** The mode and the locations of manifests. Without a file the manifest is empty. */
export interface PersistedDocumentsOptions {
  readonly mode: PersistedDocuments['mode'];
  /** Manifests of documents by the SHA-256 of their text, in codegen's or Apollo's format. */
  readonly files: readonly string[] | undefined;
}

/**
 * Reads the manifests as one and verifies their hashes.
 * @throws if a file can't be read or is not a manifest.
 */
export async function openPersistedDocuments({
  mode,
  files,
}: PersistedDocumentsOptions): Promise<PersistedDocuments> {
  if (mode === 'off' || files === undefined) return { mode, manifest: new Map() };
  const manifests = await Promise.all(files.map(readManifest));
  return { mode, manifest: new Map(manifests.flatMap((manifest) => [...manifest])) };
}

async function readManifest(file: string): Promise<PersistedDocuments['manifest']> {
  try {
    return decodeManifest(JSON.parse(await readFile(file, 'utf8')));
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
    const hash = digest('sha256', document);
    if (withoutPrefix(id) !== hash) {
      throw new TypeError(`${place}, a document with the SHA-256 ${hash}`);
    }
    manifest.set(hash, document);
  }
  if (manifest.size === 0) throw new TypeError('no documents');
  return manifest;
}

/**
 * Returns pairs of hash and document. Codegen's client preset writes them as an object, and
 * Apollo's generate-persisted-query-manifest as a list of operations.
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

/** Removes the name of the algorithm, with which clients and manifests may prefix a hash. */
export function withoutPrefix(hash: string): string {
  return hash.replace(/^sha256:/, '');
}
