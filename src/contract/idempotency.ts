import { hash } from 'node:crypto';
import type { Caller, WriteKey } from './caller.ts';

/** Returns the key of a write at a response path or a path of `/v1`; undefined without one. */
export function writeKeyOf(
  caller: Pick<Caller, 'idempotencyKey'> & Partial<Pick<Caller, 'forwarded'>>,
  path: string | number,
  operation: string,
  parameters: unknown,
): WriteKey | undefined {
  const { idempotencyKey: key, forwarded } = caller;
  if (key === undefined) return undefined;
  const digest = (...parts: unknown[]) => hash('sha256', JSON.stringify(parts), 'base64url');
  return { id: digest(key, path), fingerprint: digest(operation, parameters, forwarded) };
}

/** Returns the name of a write among those of all callers, and of all services with a URL: a hash. A credential contains no space. */
export function nameOfWrite({ key }: Pick<Caller, 'key'>, { id }: WriteKey, url = ''): string {
  return hash('sha256', `${key.credential} ${id}${url}`, 'base64url');
}
