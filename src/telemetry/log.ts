import pino, { type DestinationStream, type LevelWithSilent, type Logger } from 'pino';

/** A structured log, one JSON object a line. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/**
 * A log at this level into this writer. Of an error only its name, message and code are written;
 * `debug` and `trace` add the stack, which tells paths.
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

function withoutStack(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, code } = error as NodeJS.ErrnoException;
  return { name, message, code };
}

function withStack(error: unknown): unknown {
  return { ...(withoutStack(error) as object), stack: error instanceof Error && error.stack };
}
