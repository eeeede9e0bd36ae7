import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { turnBytes } from '../limits/turns.ts';
import type { HttpResponse } from './http-message.ts';
import { parseAccept } from './media-type.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** In order of preference: for small bodies and, in another thread, for large ones. */
const codings = {
  br: { small: brotliCompressSync, large: promisify(brotliCompress) },
  gzip: { small: gzipSync, large: promisify(gzip) },
};

/** A content coding other than `identity`. */
export type Coding = keyof typeof codings;

/**
 * Compresses a body, in another thread if it is large: handing over a small one would take several
 * times the CPU time. `effort` is from 1 to 9, Brotli's quality and gzip's level.
 */
export async function compress(
  body: string | Bytes,
  coding: Coding,
  effort: number,
): Promise<Bytes> {
  const isLarge = Buffer.byteLength(body) > turnBytes;
  const options = {
    // The default of 16 KiB for each small body would cause most of the garbage collections.
    chunkSize: isLarge ? 65_536 : 2048,
    level: effort,
    params: {
      [constants.BROTLI_PARAM_QUALITY]: effort,
      // With this window, Brotli allocates less than 2 MiB.
      [constants.BROTLI_PARAM_LGWIN]: 18,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  };
  return codings[coding][isLarge ? 'large' : 'small'](body, options);
}

/** Returns the accepted coding with the highest weight (RFC 9110, section 12.5.3), or identity. */
export function negotiateCoding(accepted = ''): Coding | 'identity' {
  const weights = new Map(parseAccept(accepted).map(({ type, q }) => [type, q]));
  const weigh = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0;
  const coding = weigh('br') >= weigh('gzip') ? 'br' : 'gzip';
  // Identity is acceptable unless it is excluded, but it is the last choice.
  const least = weights.get('identity') || Number.MIN_VALUE;
  return weigh(coding) >= least ? coding : 'identity';
}

/** A smaller body fits into three packets. */
const minBytes = 4096;

/** Twice as much would save a tenth of the bytes in twice the time. */
const effort = 2;

/** The most large bodies at a time, of the process, as its threads. Further ones are sent as they are. */
const maxInFlight = 4;
let inFlight = 0;

/** Compresses a text of 4 KiB or more, if its client accepts it; JSON always becomes smaller. Never rejects. */
export async function compressResponse(
  response: HttpResponse,
  accepted: string | undefined,
): Promise<HttpResponse> {
  const { body, headers } = response;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : 0;
  if (length < minBytes) return response;
  headers['vary'] = headers['vary'] ? `${headers['vary']}, Accept-Encoding` : 'Accept-Encoding';
  const coding = negotiateCoding(accepted);
  const large = Number(length > turnBytes);
  if (coding === 'identity' || inFlight + large > maxInFlight) return response;
  inFlight += large;
  try {
    const compressed = await compress(body, coding, effort);
    headers['content-encoding'] = coding;
    return { ...response, body: compressed };
  } catch {
    return response;
  } finally {
    inFlight -= large;
  }
}
