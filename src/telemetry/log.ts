import pino, { type DestinationStream, type Logger } from 'pino';

/** A structured log, one JSON object a line. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The levels of `LOG_LEVEL`, pino's. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** A log at this level into this writer. */
export function createLog(level: LogLevel, writer: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey'], remove: true },
    },
    writer,
  );
}
