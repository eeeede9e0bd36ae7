import { hash } from 'node:crypto';
import type { HttpResponse } from './http-message.ts';

/** Returns a strong ETag of a body (RFC 9110, section 8.8.3). */
export function etagOf(body: HttpResponse['body']): string {
  return `"${hash('sha256', body, 'base64url')}"`;
}

/** Whether `If-None-Match` contains an ETag of ours, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  // A comma within the tag of another server splits it, but no part of it has two quotes.
  const tags = ifNoneMatch.split(',').map(opaque);
  return tags.includes(opaque(etag)) || ifNoneMatch.trim() === '*';
}

/** Returns the response without its body, which the client has (RFC 9110, section 15.4.5). */
export function notModified({ headers }: HttpResponse): HttpResponse {
  const { 'content-type': _, ...kept } = headers;
  return { status: 304, headers: kept, body: '' };
}
