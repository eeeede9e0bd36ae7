import { ErrorResponse } from '../../contract/error.ts';

/**
 * The Error body for a database that can't do its work now, such as on a full disk; undefined for
 * any other error. What failed was not stored.
 */
export function storageFault(error: unknown): ErrorResponse | undefined {
  const { code, errcode } = error as { code?: string; errcode?: number };
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) return undefined;
  // The low byte is the primary result code; the rest says where it happened.
  const reason = storageFaults.get(errcode & 0xff);
  if (reason === undefined) return undefined;
  return ErrorResponse.of({
    code: 'storage_unavailable',
    message: `The store's database ${reason}. Nothing was stored. Try again later.`,
    status: 503,
  });
}

/** SQLite's result codes for faults of its surroundings, as opposed to faults of a statement. */
const storageFaults = new Map([
  [5, 'is busy'],
  [6, 'is busy'],
  [8, 'can only be read'],
  [10, 'can not be read or written'],
  [11, 'is damaged'],
  [13, 'has no space left'],
  [14, 'can not be opened'],
  [26, 'is damaged'],
]);
