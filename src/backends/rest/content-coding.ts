import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Responded } from './outcome.ts';

/** Creates the decoder of a body by its first bytes. */
export type CreateDecoder = (start: Buffer) => Transform;

/**
 * The content codings that are decoded (RFC 9110, section 8.4.1), although none is asked for. Some
 * services send `deflate` without the header of zlib, whose first byte ends in 8.
 */
export const decoders: ReadonlyMap<string, CreateDecoder> = new Map<string, CreateDecoder>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['deflate', ([first = 0]) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw())],
]);

/** Returns the content coding of a response, in lower case. */
export function codingOf({ 'content-encoding': coding }: Responded['headers']): string {
  return coding === undefined ? 'identity' : String(coding).toLowerCase();
}
