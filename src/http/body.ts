import { decodeUtf8 } from '../contract/json.ts';

/** The body of a request is larger than the limit; what came after it was not read. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  /** The limit in bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super(`The request body is too large: expected at most ${limit} bytes.`);
    this.limit = limit;
  }
}

/** The most that a request body may hold, in bytes. */
export const maxBodyBytes = 256 * 1024;

/**
 * The body of a request as text, counted while it arrives.
 * @throws BodyTooLargeError beyond `limit` bytes, whatever Content-Length said; TypeError when the
 *   bytes are not UTF-8.
 */
export async function readText(request: Request, limit = maxBodyBytes): Promise<string> {
  if (Number(request.headers.get('content-length')) > limit) throw new BodyTooLargeError(limit);
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) throw new BodyTooLargeError(limit);
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks, size));
}

/** Whether a `Content-Type` says `application/json`; a charset must be UTF-8. */
export function isJsonType(contentType: string | null | undefined): boolean {
  return jsonType.test(contentType ?? '');
}

/** What is wrong with a `Content-Type` that is not JSON's, for the client that sent it. */
export function notJsonType(contentType: string | null): string {
  const received = contentType === null ? 'none' : JSON.stringify(contentType.slice(0, 100));
  return `content-type: expected application/json in UTF-8, received ${received}.`;
}

const jsonType = /^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?;?$/i;
