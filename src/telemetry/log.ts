import pino from 'pino';
import type { ClientName } from './client-name.ts';

/** One call to the REST service, as the log shows it. */
export interface CallRecord {
  readonly operation: string;
  /** The HTTP status, or the kind of failure. */
  readonly status: number | string;
  readonly ms: number;
}

/** The log line of a request. */
export interface RequestEntry {
  readonly requestId: string;
  readonly traceId: string | undefined;
  /** The GraphQL operation's type and name, or the method and path of any other request. */
  readonly operation: string;
  /** The names that the application and its GraphQL library send. */
  readonly client: ClientName | undefined;
  readonly clientLibrary: ClientName | undefined;
  /** The origin of a preflight request that was refused. */
  readonly refusedOrigin: string | undefined;
  readonly status: number;
  readonly codes: readonly string[];
  readonly ms: number;
  /** The time to the first part of a response in parts. */
  readonly firstPartMs: number | undefined;
  readonly calls: readonly CallRecord[];
}

/** Writes an entry and its message, or a message alone. */
interface LogMethod {
  (entry: object, message: string): void;
  (message: string): void;
}

/** A structured log, one JSON object per line. */
export interface Log extends Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogMethod>> {
  /** Logs a request at `info`, without the work that pino does for every other entry. */
  request(entry: RequestEntry): void;
}

/** The lowest level that is written. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** The destination of log lines, each with its newline. */
export interface LogWriter {
  write(line: string): void;
}

/**
 * Creates a log with this level and writer. Keys are removed from every entry. Errors are written
 * with name, message and code; `debug` and `trace` add the stack, which contains file paths.
 */
export function createLog(level: LogLevel, writer: LogWriter): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutKeys },
      serializers: { err: level === 'debug' || level === 'trace' ? withStack : withoutStack },
    },
    writer,
  );
  const logsRequests = logger.isLevelEnabled('info');
  return Object.assign(logger, {
    request(entry: RequestEntry) {
      if (!logsRequests) return;
      writer.write(`${JSON.stringify({ level: 'info', time: now(), ...entry, msg: 'request' })}\n`);
    },
  });
}

/** Returns the time in ISO 8601 format. It is formatted once per millisecond. */
function now(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastTime = new Date(ms).toISOString();
  }
  return lastTime;
}

let lastMs = 0;
let lastTime = '';

/** Members that contain a key, in an entry or one level below. */
const secrets = ['authorization', 'apiKey'];

/** Removes keys. Most entries have none and are not copied, unlike with pino's own redaction. */
function withoutKeys(entry: Record<string, unknown>): Record<string, unknown> {
  let clean = entry;
  for (const [name, value] of Object.entries(entry)) {
    const isSecret = secrets.includes(name);
    if (!isSecret && !containsKey(value)) continue;
    if (clean === entry) clean = { ...entry };
    if (isSecret) delete clean[name];
    else clean[name] = withoutKeys(value as Record<string, unknown>);
  }
  return clean;
}

function containsKey(value: unknown): boolean {
  return typeof value === 'object' && value !== null && secrets.some((name) => name in value);
}

function withoutStack(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, code } = error as NodeJS.ErrnoException;
  return { name, message, code };
}

function withStack(error: unknown): unknown {
  return { ...(withoutStack(error) as object), stack: error instanceof Error && error.stack };
}
