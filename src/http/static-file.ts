import { hash } from 'node:crypto';
import { type Coding, compress, negotiateCoding } from './compression.ts';
import { etagOf, matchesEtag } from './etag.ts';
import type { HttpResponse, RequestHeaders } from './http-message.ts';
import { once } from './once.ts';

/** Responds to a GET or HEAD request with these headers. All responses share the same bytes. */
export type StaticFile = (requestHeaders: RequestHeaders) => Promise<HttpResponse>;

/** Swagger UI, 1.7 MB, takes Brotli 30 ms; with its default, 11, it would take 3.4 s. */
const effort = 5;

/**
 * Creates a file of this media type. The first request reads or renders it, and it stays in memory,
 * as does each compressed form once a client has accepted it. `headers` are sent with every response.
 */
export function createStaticFile(
  type: string,
  headers: Readonly<Record<string, string>>,
  read: () => Promise<string>,
): StaticFile {
  const identity = once(async () => {
    const text = await read();
    return {
      bytes: Buffer.from(text),
      etag: etagOf(text),
      headers: { 'content-type': type, ...restrictions(type, text) },
    };
  });
  const compressed = (coding: Coding) =>
    once(async () => {
      const original = await identity();
      const bytes = await compress(original.bytes, coding, effort);
      if (bytes.length >= original.bytes.length) return original;
      return {
        bytes,
        // A strong ETag must differ between content codings (RFC 9110, section 8.8.3.3).
        etag: original.etag.replace(/"$/, `-${coding}"`),
        headers: { ...original.headers, 'content-encoding': coding },
      };
    });
  const representations = { identity, br: compressed('br'), gzip: compressed('gzip') };

  return async (requestHeaders) => {
    const coding = negotiateCoding(requestHeaders['accept-encoding']);
    const { bytes, etag, headers: described } = await representations[coding]();
    const cached = { vary: 'Accept-Encoding', ...headers, etag };
    if (matchesEtag(requestHeaders['if-none-match'], etag)) {
      return { status: 304, headers: cached, body: '' };
    }
    return { status: 200, headers: { ...cached, ...described }, body: bytes };
  };
}

/** GraphiQL and Swagger UI set style attributes, and their style sheets contain data URLs. */
const sources =
  "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; worker-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns headers that restrict a page to this server, and to its inline scripts or else files. */
function restrictions(type: string, text: string): Record<string, string> {
  const page = type.startsWith('text/html') ? text : '';
  const hashes = Array.from(page.matchAll(/<script>(.*?)<\/script>/gs), ([, script = '']) => {
    return `'sha256-${hash('sha256', script, 'base64')}'`;
  });
  const scripts = hashes.join(' ') || "'self'";
  return {
    'content-security-policy': `default-src 'none'; script-src ${scripts}; ${sources}`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}
