import type { Call, CallObservation, RestRequest } from '../../contract/pet-store.ts';
import type { Release } from '../../limits/share.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { Cancellation } from './cancellation.ts';
import type { Origin } from './origin.ts';
import { consequencesOf, type Outcome } from './outcome.ts';
import { parseRetryAfter } from './response.ts';

/** Sends a call, and reads the complete response. Never rejects. */
export type Send = ReturnType<typeof createSend>;

/**
 * Creates the function that sends calls to `baseUrl` with the caller's credential, and repeats them as
 * `consequencesOf` allows. Calls and retries end `timeoutMs` after the start of the wait. A proxy for
 * an `http:` URL receives the whole URL of a call, and its own credential (RFC 9112, section 3.2.2).
 */
export function createSend(
  origin: Origin,
  baseUrl: URL,
  timeoutMs: number,
  metrics: Pick<Metrics, 'retries'>,
) {
  const forwarder = baseUrl.protocol === 'http:' ? origin.proxy : undefined;
  const prefix = (forwarder ? baseUrl.origin : '') + baseUrl.pathname.replace(/\/+$/, '');

  return async (
    call: Call,
    { operation, method, path, body }: RestRequest,
    observation: CallObservation | undefined,
  ): Promise<Outcome> => {
    const { authorization, key, signal } = call;
    const isRead = method === 'GET';
    if (signal?.aborted) return { why: 'clientLeft' };
    const deadlineAt = (call.waitingSince ?? performance.now()) + timeoutMs;
    const cancellation = new Cancellation(!isRead, deadlineAt);
    const expire = () => cancellation.cancel('deadline');
    const deadline = setTimeout(expire, deadlineAt - performance.now());
    signal?.addEventListener('abort', cancellation);
    const headers = {
      authorization,
      accept: 'application/json',
      // Decoding takes CPU time. Services that encode their responses anyway are understood.
      'accept-encoding': 'identity',
      'x-request-id': call.requestId,
      ...call.forwarded,
      ...forwarder?.headers,
      ...observation?.traceHeaders,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const options = { method, path: prefix + path, headers, body: body ?? null };
    let endRetry: Release | undefined;
    const repeat = async ({ why, status }: Outcome) => {
      const { timesSent } = cancellation;
      const outcome = await origin.call(key, options, cancellation);
      if (cancellation.timesSent === timesSent) return outcome;
      metrics.retries.inc({ operation, after: why ?? String(status) });
      if (observation) observation.retries++;
      return outcome;
    };
    try {
      let outcome = await origin.call(key, options, cancellation);
      let { kind, repeats } = consequencesOf(outcome);
      if (repeats === 'all at once' || (isRead && repeats === 'reads at once')) {
        const again = await repeat(outcome);
        ({ kind, repeats } = consequencesOf(again));
        // The gateway refused to send it again.
        if (kind === 'notSent' && repeats === 'none') return outcome;
        outcome = again;
      }
      if (!isRead || repeats === 'none') return outcome;
      // The jitter spreads the retries of concurrent calls.
      const after = outcome.why === undefined && parseRetryAfter(outcome.headers['retry-after']);
      const pauseMs = Math.max(20 + 80 * Math.random(), after || 0);
      if (performance.now() + pauseMs >= deadlineAt) return outcome;
      if (cancellation.reason === undefined) {
        const taken = origin.retries.take(key);
        if (typeof taken === 'string') return outcome;
        endRetry = taken;
        await cancellation.pause(pauseMs);
      }
      const second = await repeat(outcome);
      // A retry that brings no response leaves the caller with the first outcome.
      return second.why === undefined || cancellation.reason === 'client' ? second : outcome;
    } finally {
      endRetry?.();
      clearTimeout(deadline);
      signal?.removeEventListener('abort', cancellation);
    }
  };
}
