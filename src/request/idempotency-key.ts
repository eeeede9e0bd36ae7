import { badRequest } from '../http/error.ts';
import type { Scope } from './scope.ts';

/** A string of visible characters, as a String of RFC 9651 or without its quotes. */
const keyHeader = /^(?:"((?:[!#-[\]-~]|\\["\\]){1,255})"|([!#-~][!-~]{0,254}))$/;

/**
 * Sets the key of the request's writes (draft-ietf-httpapi-idempotency-key-header-07).
 * @param name the header or option, which the error names
 * @throws HttpError if it is malformed
 */
export function setIdempotencyKey(scope: Scope, name: string, value: string): void {
  const [, quoted, plain] = keyHeader.exec(value) ?? [];
  const key = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain;
  if (key === undefined) {
    const received = JSON.stringify(value.slice(0, 64));
    throw badRequest(`${name}: expected 1 to 255 visible characters, received ${received}.`);
  }
  scope.idempotencyKey = key;
}
