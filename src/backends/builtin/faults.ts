import { BackendUnavailableError } from '../../contract/error.ts';

/** No connection to the database could be had, for the reason that is its cause: nothing was sent. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

/**
 * The contract's error for a database that can't do its work now, such as on a full disk or in the
 * middle of a restart; undefined for any other error. A write whose connection broke may have been
 * carried out or not, and says so; it is never repeated.
 */
export function storageFault(
  cause: unknown,
  isWrite: boolean,
): BackendUnavailableError | undefined {
  if (!(cause instanceof Error)) return undefined;
  const reason =
    cause instanceof NotConnectedError
      ? (postgresReason(cause.cause as Error) ?? 'can not be reached')
      : (sqliteReason(cause) ?? postgresReason(cause));
  if (reason === undefined) return undefined;
  const outcome = !isWrite
    ? 'Try again later.'
    : isOutcomeKnown(cause)
      ? 'Nothing was stored. Try again later.'
      : 'The outcome is unknown: it may have been stored or not. Look before you try again.';
  return new BackendUnavailableError(`The store's database ${reason}. ${outcome}`, { cause });
}

/** SQLite's result codes for faults of its surroundings, as opposed to faults of a statement. */
const sqliteReasons = new Map([
  [5, 'is busy'],
  [6, 'is busy'],
  [8, 'can only be read'],
  [10, 'can not be read or written'],
  [11, 'is damaged'],
  [13, 'has no space left'],
  [14, 'can not be opened'],
  [26, 'is damaged'],
]);

function sqliteReason(error: Error): string | undefined {
  const { code, errcode } = error as { code?: string; errcode?: number };
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) return undefined;
  // The low byte is the primary result code; the rest says where it happened.
  return sqliteReasons.get(errcode & 0xff);
}

/** Classes and codes of SQLSTATE (PostgreSQL, appendix A) that tell of the server, not the query. */
const postgresReasons: readonly [RegExp, string][] = [
  [/^53100/, 'has no space left'],
  [/^53/, 'is busy'],
  [/^(?:57014|55P03|40001|40P01)/, 'is busy'],
  [/^25006/, 'can only be read'],
  [/^(?:57P0|08|40003|58)/, 'can not be reached'],
  [/^XX/, 'is damaged'],
];

function postgresReason({ message, ...error }: Error): string | undefined {
  const { code = '' } = error as { code?: string };
  const known = postgresReasons.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return known[1];
  // What pg itself says of a connection has no SQLSTATE, what the system says an errno.
  const isConnection = /^(?:EAI_|E[A-Z]+$)/.test(code) || connectionMessage.test(message);
  return isConnection ? 'can not be reached' : undefined;
}

const connectionMessage =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** Whether the statement surely had no effect: it was refused, or never sent. */
function isOutcomeKnown(error: Error): boolean {
  if (error instanceof NotConnectedError) return true;
  const { code = '', errcode } = error as { code?: string; errcode?: number };
  return errcode !== undefined || /^(?:53|57014|55P03|25006|40001|40P01)/.test(code);
}
