import { BackendUnavailableError, RefusedStatementError } from '../../contract/error.ts';

/** Connecting to the database failed, so nothing was sent; `cause` is the driver's error. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

/**
 * Returns the contract's error for a failure of the database itself, such as a full disk or a restart;
 * one that is not shown if only a statement was refused; undefined for any other error. The outcome of a
 * write during which the connection broke is unknown.
 */
export function storageFault(cause: unknown, isWrite: boolean) {
  if (!(cause instanceof Error)) return undefined;
  const { severity } = cause as { severity?: string };
  // The statement has done nothing, unless the server has ended the session, perhaps after a commit.
  const mayBeDone = severity === 'PANIC' || /^(?:08|57P|40003)/.test(codeOf(cause));
  const isRefused = 'errcode' in cause || (severity !== undefined && !mayBeDone);
  const reason =
    cause instanceof NotConnectedError
      ? (reasonOf(cause.cause) ?? 'cannot be reached')
      : reasonOf(cause);
  const message = `${codeOf(cause)}: ${cause.message}`;
  if (reason === undefined && isRefused) return new RefusedStatementError(message, { cause });
  if (reason === undefined) return undefined;
  const isKnown = cause instanceof NotConnectedError || isNotSent(cause) || isRefused;
  const stored = isWrite ? ' Nothing was stored.' : '';
  const advice = isWrite && !isKnown ? '' : `${stored} Try again later.`;
  return new BackendUnavailableError(`The store's database ${reason}.${advice}`, {
    cause,
    writeOutcome: isKnown ? 'NOT_DONE' : 'UNKNOWN',
  });
}

/**
 * Failures of the server, the file or the system, by the codes of SQLite and PostgreSQL (SQLSTATE,
 * appendix A), by the system's codes, and by the messages of pg that have no code.
 */
const reasons: readonly [RegExp, string][] = [
  [/^(?:SQLITE_13$|53100)/, 'has no space left'],
  [/^(?:SQLITE_[56]$|53|57014|55P03|40001|40P01)/, 'is busy'],
  [/^file moved$/, 'file was deleted or replaced'],
  [/^(?:SQLITE_8$|25006)/, 'is read-only'],
  [/^SQLITE_10$/, 'cannot be read or written'],
  [/^SQLITE_14$/, 'cannot be opened'],
  [/^(?:SQLITE_(?:11|26)$|XX)/, 'is damaged'],
  [/^(?:57P0|08|40003|58|EAI_|E[A-Z]+$)/, 'cannot be reached'],
  [/^(?:Connection terminated|timeout exceeded when trying to connect)/, 'cannot be reached'],
  [/^(?:Query read timeout|Client has encountered a connection error)/, 'cannot be reached'],
];

function reasonOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return reasons.find(([pattern]) => pattern.test(code))?.[1];
}

/** Returns the code of an error, or its message if it has none. */
function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const { errcode: result = 0 } = error as { errcode?: number };
  // The low byte is the primary result code; the other bytes are details.
  return code === 'ERR_SQLITE_ERROR' ? `SQLITE_${result & 0xff}` : code || message;
}

/** Whether a statement failed without effect because of another session, such as for its lock. */
export function isLocked(error: unknown): boolean {
  return /^(?:SQLITE_[56]|55P03|40001|40P01)$/.test(codeOf(error));
}

/**
 * Whether PgBouncer sent nothing, because it had no connection to PostgreSQL, or has ended that of the
 * gateway before. All of its errors have the SQLSTATE for a violation of the protocol.
 */
export function isNotSent(error: unknown): boolean {
  const cause = error instanceof NotConnectedError ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  const reasons =
    /server_login_retry|^(?:server (?:login failed|shutting down)|(?:query_wait|client_idle|client_login)_timeout)/;
  return code === '08P01' && reasons.test(message);
}
