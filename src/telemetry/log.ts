import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import pino, { type DestinationStream, type LevelWithSilent, type Logger } from 'pino';
import type { ClientName } from './client-name.ts';
import { readable } from './readable.ts';

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
  /** The application that sent it, and the library that it used, as they name themselves. */
  readonly client: ClientName | undefined;
  readonly clientLibrary: ClientName | undefined;
  /** The origin of a preflight request that was refused. */
  readonly refusedOrigin: string | undefined;
  readonly status: number;
  readonly codes: readonly string[];
  readonly ms: number;
  readonly calls: readonly CallRecord[];
}

/** A structured log, one JSON object a line. */
export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** Tells of a request at `info`. Each has one, so it goes past what pino does for any entry. */
  request(entry: RequestEntry): void;
}

/**
 * A log at this level into this writer. Keys are cut out wherever they are handed in. Of an error
 * only its name, message and code are written; `debug` and `trace` add the stack, which tells paths.
 */
export function createLog(level: LevelWithSilent, writer: DestinationStream): Log {
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
  const tellsOfRequests = logger.isLevelEnabled('info');
  return Object.assign(logger, {
    request(entry: RequestEntry) {
      if (!tellsOfRequests) return;
      writer.write(`${JSON.stringify({ level: 'info', time: now(), ...entry, msg: 'request' })}\n`);
    },
  });
}

/** What may wait for a reader that is slow or gone, in bytes; lines beyond it are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;

/**
 * A writer to a file descriptor: readable on a terminal, else JSON that is written in blocks. Where
 * processes share the descriptor, blocks are so small that a pipe keeps each in one piece.
 */
export function openLogWriter(fd: 1 | 2, isTerminal: boolean, isShared: boolean) {
  const blockBytes = isShared ? 4096 : 16_384;
  const destination = pino.destination({
    dest: fd,
    sync: isTerminal,
    maxWrite: blockBytes,
    maxLength: maxWaitingBytes,
  });
  let block = '';
  let bytes = 0;
  let isClosing = false;
  const flush = () => {
    if (bytes > 0) destination.write(block);
    block = '';
    bytes = 0;
  };
  // A block that is not full does not wait for long.
  const timer = setInterval(flush, 250).unref();
  return {
    write(line: string) {
      if (isTerminal) return void destination.write(readable(line));
      const more = Buffer.byteLength(line);
      if (bytes + more > blockBytes) flush();
      block += line;
      bytes += more;
    },
    /** Writes what is left. False when its reader does not take it within a second. */
    async close(): Promise<boolean> {
      isClosing = true;
      clearInterval(timer);
      flush();
      const closed = once(destination, 'close').then(() => true);
      destination.end();
      return Promise.race([closed, wait(1000, false)]);
    },
    /** Writes what is left at once, where the process can't wait. */
    closeNow() {
      if (isClosing) return;
      flush();
      destination.flushSync();
    },
  };
}

/** The time as ISO 8601 text, which is made once a millisecond. */
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

/** Members that hold a key, in an entry or one level below. */
const secrets = ['authorization', 'apiKey'];

/** The same entry when it holds no key, which is nearly always; pino's own redaction copies each. */
function withoutKeys(entry: Record<string, unknown>): Record<string, unknown> {
  let clean = entry;
  for (const [name, value] of Object.entries(entry)) {
    const isSecret = secrets.includes(name);
    if (!isSecret && !holdsKey(value)) continue;
    if (clean === entry) clean = { ...entry };
    if (isSecret) delete clean[name];
    else clean[name] = withoutKeys(value as Record<string, unknown>);
  }
  return clean;
}

function holdsKey(value: unknown): boolean {
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
