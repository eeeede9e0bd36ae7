import { badRequest, HttpError } from '../http/error.ts';
import type { RequestHead } from '../http/http-message.ts';

/** Maximum size of the forwarded headers of a request, in bytes. */
const maxBytes = 4096;

/**
 * Returns the headers of these lower-case names that a request has; undefined if it has none.
 * @throws HttpError if one is repeated, they are too large, or can't be sent
 */
export function pickHeaders(
  names: readonly string[],
  { headers, repeated = [] }: Pick<RequestHead, 'headers' | 'repeated'>,
): Readonly<Record<string, string>> | undefined {
  let picked: Record<string, string> | undefined;
  let bytes = 0;
  for (const name of names) {
    const value = (headers as Readonly<Record<string, string | undefined>>)[name];
    if (value === undefined) continue;
    if (repeated.includes(name)) throw badRequest(`${name}: expected it once, received it again.`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw badRequest(`${name}: expected Latin-1 text.`);
    }
    bytes += name.length + value.length;
    picked ??= {};
    picked[name] = value;
  }
  if (bytes <= maxBytes) return picked;
  const message = `${names.join(', ')}: expected at most 4 KiB together, received ${bytes} bytes.`;
  throw new HttpError(431, 'BAD_REQUEST', message);
}
