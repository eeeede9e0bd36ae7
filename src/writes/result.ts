import {
  BackendTimeoutError,
  BackendUnavailableError,
  CancelledError,
  ErrorResponse,
  IdempotencyKeyReusedError,
  InvalidResponseError,
  PetStoreError,
  type WriteOutcome,
} from '../contract/error.ts';
import { JsonText } from '../contract/json.ts';

/** The longest text that is stored, in characters: more than twice what a request can send. */
const maxLength = 512 * 1024;

/** By their codes, because bundlers of hosts may change the names of classes. */
const errorTypes = {
  IDEMPOTENCY_KEY_REUSED: IdempotencyKeyReusedError,
  UPSTREAM_TIMEOUT: BackendTimeoutError,
  UPSTREAM_UNAVAILABLE: BackendUnavailableError,
  UPSTREAM_INVALID_RESPONSE: InvalidResponseError,
};

/** Returns what became of a write, from its value or its error. */
export function outcomeOf(result: unknown): WriteOutcome {
  if (result instanceof PetStoreError) return result.writeOutcome;
  return result instanceof Error ? 'UNKNOWN' : 'DONE';
}

/** Encodes the value or the error of a write. One that is too long becomes an error that says so. */
export function encodeResult(result: unknown): string {
  // A success may have no value.
  const text = JSON.stringify(result ?? null, (_, value) =>
    value instanceof Error
      ? describe(value)
      : value instanceof JsonText
        ? { jsonText: value.text }
        : value,
  );
  if (text.length <= maxLength) return text;
  const problem = 'The response to the write was too large to be kept.';
  return encodeResult(new BackendUnavailableError(problem, { writeOutcome: outcomeOf(result) }));
}

/** Decodes the value or the error of a write. */
export function decodeResult(text: string): unknown {
  // No record has a field of these names.
  return JSON.parse(text, (_, value: (Partial<Described> & { jsonText?: string }) | null) => {
    if (value?.jsonText !== undefined) return new JsonText(value.jsonText);
    return value?.writeOutcome ? createError(value as Described) : value;
  });
}

/** Creates the same error of a write that an earlier call may have carried out. A cancelled one has no reader. */
export function asUnknown(error: Error): Error {
  if (error instanceof CancelledError) return error;
  return createError({ ...describe(error), writeOutcome: 'UNKNOWN' });
}

type Described = ReturnType<typeof describe>;

function describe(error: Error) {
  const { message } = error;
  const { code, retryAfterMs } = error as Partial<PetStoreError>;
  const { status, body } = error instanceof ErrorResponse ? error : {};
  return { code, message, status, body, retryAfterMs, writeOutcome: outcomeOf(error) };
}

function createError({ code, message, status, ...more }: Described): Error {
  if (status !== undefined) return new ErrorResponse(status, message, more);
  return new (errorTypes[code as keyof typeof errorTypes] ?? Error)(message, more);
}
