import { readFile } from 'node:fs/promises';
import type { HttpResponse } from '../http/message.ts';

/** The files of the reference page: their names below it, where they come from, what they are. */
const files: ReadonlyMap<string, readonly [module: string, type: string]> = new Map([
  ['', ['../../schema/reference/page.html', 'text/html; charset=utf-8']],
  ['page.css', ['../../schema/reference/page.css', 'text/css; charset=utf-8']],
  ['page.js', ['../../schema/reference/page.js', 'text/javascript; charset=utf-8']],
  ['swagger-ui.css', ['swagger-ui-dist/swagger-ui.css', 'text/css; charset=utf-8']],
  [
    'swagger-ui-bundle.js',
    ['swagger-ui-dist/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ],
  ['favicon-32x32.png', ['swagger-ui-dist/favicon-32x32.png', 'image/png']],
]);

/** Browsers hold the page to it: it loads nothing and sends nothing but from and to this server. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI writes style attributes and has its icons in its style sheet.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * A file of the reference page, read when it is asked for: the page itself at '', its assets at
 * their names; undefined for any other name. With an API key the page starts authorized.
 */
export async function referenceFile(
  name: string,
  apiKey: string | undefined,
): Promise<HttpResponse | undefined> {
  const file = files.get(name);
  if (file === undefined) return undefined;
  const [module, type] = file;
  const content = await readFile(new URL(import.meta.resolve(module)));
  const body =
    name === '' && apiKey
      ? Buffer.from(String(content).replace('data-api-key=""', `data-api-key="${apiKey}"`))
      : content;
  return {
    status: 200,
    headers: {
      'content-type': type,
      'cache-control': name === '' ? 'no-cache' : 'public, max-age=3600',
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}
