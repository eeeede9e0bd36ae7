import { isShown } from '../contract/error.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import { HttpError, internalError } from './error.ts';

const overloaded = [503, 'The gateway is overloaded.'] as const;

/** Why requests are refused due to load, with the status and the message of the response. */
const refusals = {
  event_loop_lag: overloaded,
  requests_in_flight: overloaded,
  requests_of_key: [429, 'Too many requests with this API key are in flight.'],
  rate_of_key: [429, 'Too many calls per second with this API key.'],
  rate_of_unknown_keys: [429, 'Too many calls per second without a known API key.'],
  body_bytes: overloaded,
  body_bytes_of_key: [429, 'The request bodies with this API key are too large together.'],
} as const;

/** The refusal of a request due to load; the client may retry after one second. */
export class Refusal extends HttpError {
  readonly reason: keyof typeof refusals;

  constructor(reason: keyof typeof refusals) {
    const [status, message] = refusals[reason];
    const code = status === 429 ? 'RATE_LIMITED' : 'OVERLOADED';
    super(status, code, `${message} Try again in one second.`, { 'retry-after': '1' });
    this.reason = reason;
  }
}

/** Reports why a request fails. Returns the error to respond with. */
export type ReportError = (error: unknown, requestId: string) => HttpError;

/**
 * Creates the function that counts and logs refusals due to load, and logs unexpected errors. The
 * first refusal is logged immediately, later ones as counts at most every `intervalMs`.
 */
export function createReportError({ log, metrics }: Reporting, intervalMs = 10_000): ReportError {
  let reasons: Record<string, number> = {};
  let timer: NodeJS.Timeout | undefined;
  for (const [reason, [status]] of Object.entries(refusals)) metrics.refused(reason, status, 0);

  function logRefusals() {
    timer = undefined;
    if (Object.keys(reasons).length === 0) return;
    log.warn({ reasons }, 'requests were refused due to load');
    reasons = {};
    timer = setTimeout(logRefusals, intervalMs).unref();
  }

  return (error, requestId) => {
    if (error instanceof Refusal) {
      const { reason, status } = error;
      metrics.refused(reason, status);
      const name = `${reason} ${status}`;
      reasons[name] = (reasons[name] ?? 0) + 1;
      if (timer === undefined) logRefusals();
    }
    if (error instanceof HttpError) return error;
    // The request has ended before it was executed.
    if (isShown(error)) return new HttpError(error.status, error.code, error.message);
    log.error({ err: error, requestId }, 'unexpected error');
    return internalError();
  };
}
