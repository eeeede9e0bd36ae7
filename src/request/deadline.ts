import { badRequest } from '../http/error.ts';
import type { Scope } from './scope.ts';

/** The header with the deadline of a request, which `setDeadline` reads. */
export const timeoutHeader = 'x-petstore-timeout-ms';

/**
 * Sets the deadline that the caller asks for, in milliseconds from the start of the request.
 * @param name the header or option, which the error names
 * @throws HttpError if it is no whole number from 1 to `maxMs`
 */
export function setDeadline(
  scope: Scope,
  name: string,
  value: string | number,
  maxMs: number,
): void {
  const ms = /^[1-9][0-9]*$/.test(String(value)) ? Number(value) : 0;
  if (ms < 1 || ms > maxMs) {
    const received = JSON.stringify(String(value).slice(0, 32));
    throw badRequest(`${name}: expected a whole number from 1 to ${maxMs}, received ${received}.`);
  }
  scope.setDeadline(ms);
}
