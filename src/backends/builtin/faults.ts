import { BackendUnavailableError } from '../../contract/error.ts';

/** Connecting to the database failed, so nothing was sent; `cause` is the driver's error. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

/**
 * Returns the contract's error for a failure of the database itself, such as a full disk or a restart;
 * undefined for any other error. If the connection broke during a write, the message reports that the
 * outcome is unknown. Writes are never repeated.
 */
export function storageFault(
  cause: unknown,
  isWrite: boolean,
): BackendUnavailableError | undefined {
  if (!(cause instanceof Error)) return undefined;
  const reason =
    cause instanceof NotConnectedError
      ? (postgresReason(cause.cause as Error) ?? 'cannot be reached')
      : (sqliteReason(cause) ?? postgresReason(cause));
  if (reason === undefined) return undefined;
  // SQLite, and a server that is busy, full or read-only, refuses a statement as a whole.
  const isKnown =
    cause instanceof NotConnectedError ||
    isRefusedLogin(cause) ||
    'errcode' in cause ||
    /^(?:is busy|is read-only|has no space)/.test(reason);
  const outcome = !isWrite
    ? 'Try again later.'
    : isKnown
      ? 'Nothing was stored. Try again later.'
      : 'The outcome is unknown: the record may or may not have been stored. Check before you try again.';
  return new BackendUnavailableError(`The store's database ${reason}. ${outcome}`, {
    cause,
    writeOutcome: isKnown ? 'NOT_DONE' : 'UNKNOWN',
  });
}

/** SQLite's result codes for failures of the file or the system, not of a statement. */
const sqliteReasons = new Map([
  [5, 'is busy'],
  [6, 'is busy'],
  [8, 'is read-only'],
  [10, 'cannot be read or written'],
  [11, 'is damaged'],
  [13, 'has no space left'],
  [14, 'cannot be opened'],
  [26, 'is damaged'],
]);

function sqliteReason(error: unknown): string | undefined {
  const { code, errcode = 0 } = error as { code?: string; errcode?: number };
  // The low byte is the primary result code; the other bytes are details.
  return code === 'ERR_SQLITE_ERROR' ? sqliteReasons.get(errcode & 0xff) : undefined;
}

/** Whether a statement failed without effect because another session holds a lock. */
export function isLocked(error: unknown): boolean {
  // PostgreSQL's SQLSTATE for lock_not_available.
  return sqliteReason(error) === 'is busy' || (error as { code?: string }).code === '55P03';
}

/**
 * Whether PgBouncer sent nothing, because it cannot log in to PostgreSQL. All of its errors have the
 * SQLSTATE for a violation of the protocol.
 */
export function isRefusedLogin(error: unknown): boolean {
  const cause = error instanceof NotConnectedError ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  return code === '08P01' && /server_login_retry|^server login failed/.test(message);
}

/** SQLSTATE classes and codes (PostgreSQL, appendix A) for failures of the server, not the query. */
const postgresReasons: readonly [RegExp, string][] = [
  [/^53100/, 'has no space left'],
  [/^(?:53|57014|55P03|40001|40P01)/, 'is busy'],
  [/^25006/, 'is read-only'],
  [/^(?:57P0|08|40003|58)/, 'cannot be reached'],
  [/^XX/, 'is damaged'],
];

function postgresReason({ message, ...error }: Error): string | undefined {
  const { code = '' } = error as { code?: string };
  const known = postgresReasons.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return known[1];
  // Connection errors of pg have no SQLSTATE; those of the system have an errno code.
  const isConnection = /^(?:EAI_|E[A-Z]+$)/.test(code) || connectionMessage.test(message);
  return isConnection ? 'cannot be reached' : undefined;
}

const connectionMessage =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;
