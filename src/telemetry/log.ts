import pino from 'pino';

type LogMethod = (entry: object, message: string) => void;

/** A structured log, one JSON object per line. */
export interface Log extends Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogMethod>> {
  /** Logs the members of a request, none of which contains a key, at `info`. */
  request(members: object): void;
}

/** The members of an entry that contain a key, also one level below. */
const secrets = ['authorization', 'apiKey', '*.authorization', '*.apiKey'];

/** Creates a log without keys. Stacks, which contain file paths, need `debug` or `trace`. */
export function createLog(
  level: string,
  writer: { write(line: string): void },
): Log & { level: string } {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secrets, remove: true },
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: (error: unknown) => serializeError(error, logger.isLevelEnabled('debug')),
      },
    },
    writer,
  );
  // Redaction takes twice the time of the rest of a line. The members of a request are named one by one.
  const requests = logger.child({}, { redact: { paths: [], remove: true }, level: 'info' });
  return Object.assign(logger, {
    request(members: object) {
      if (logger.isLevelEnabled('info')) requests.info(members, 'request');
    },
  });
}

function serializeError(error: unknown, withStack: boolean): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, code, stack } = error as NodeJS.ErrnoException;
  return { name, message, code, ...(withStack && { stack }) };
}
