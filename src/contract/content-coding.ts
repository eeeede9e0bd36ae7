import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** Decodes a whole body. @throws if it is not encoded so, or its length exceeds `maxOutputLength`. */
type Decode = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Buffer;

/** By name. Some peers send `deflate` without zlib's header, whose first byte ends in 8. */
const decoders = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['br', brotliDecompressSync],
  [
    'deflate',
    (body, limit) => (((body[0] ?? 0) & 0x0f) === 8 ? inflateSync : inflateRawSync)(body, limit),
  ],
]);

/**
 * Decodes a body by its `Content-Encoding` (RFC 9110, section 8.4), a list in the order of coding.
 * Returns undefined for more than five, or unknown ones. @throws as `Decode` does
 */
export function decodeContent<Bytes extends Uint8Array>(
  body: Bytes,
  header: string,
  maxOutputLength: number,
): Bytes | Buffer | undefined {
  const names = header.toLowerCase().match(/[^\s,]+/g) ?? [];
  const applied = names.filter((name) => name !== 'identity');
  const codings = applied.map((name) => decoders.get(name));
  if (codings.length > 5 || !codings.every((decode) => decode !== undefined)) return undefined;
  return codings.reduceRight<Bytes | Buffer>(
    (bytes, decode) => decode(bytes, { maxOutputLength }),
    body,
  );
}
