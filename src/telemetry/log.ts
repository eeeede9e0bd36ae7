import pino, { type DestinationStream, type LevelWithSilent, type Logger } from 'pino';
import { readable } from './readable.ts';

/** A structured log, one JSON object a line. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

/**
 * A log at this level into this writer. Keys are cut out wherever they are handed in. Of an error
 * only its name, message and code are written; `debug` and `trace` add the stack, which tells paths.
 */
export function createLog(level: LevelWithSilent, writer: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: level === 'debug' || level === 'trace' ? withStack : withoutStack },
      redact: { paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey'], remove: true },
    },
    writer,
  );
}

/** A writer to a file descriptor: readable on a terminal, else JSON that is written in blocks. */
export function openLogWriter(fd: 1 | 2, isTerminal: boolean) {
  const destination = pino.destination({
    dest: fd,
    sync: isTerminal,
    minLength: isTerminal ? 0 : 16_000,
  });
  // A block that is not full does not wait for long.
  const timer = setInterval(() => destination.flush(), 250).unref();
  return {
    write: (line: string) => void destination.write(isTerminal ? readable(line) : line),
    /** Writes what is left, before the process ends. */
    close() {
      clearInterval(timer);
      destination.flushSync();
    },
  };
}

function withoutStack(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, code } = error as NodeJS.ErrnoException;
  return { name, message, code };
}

function withStack(error: unknown): unknown {
  return { ...(withoutStack(error) as object), stack: error instanceof Error && error.stack };
}
