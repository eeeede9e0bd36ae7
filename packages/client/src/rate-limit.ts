/** What is left of the rate of an API key (`RATE_LIMIT_PER_KEY`). Each root field takes one call. */
export interface RateLimit {
  /** The calls per second that the gateway allows. */
  readonly perSecond: number;
  /** The calls that may be made now. */
  readonly remaining: number;
  /** The time until all calls of a second may be made at once, in milliseconds; whole seconds. */
  readonly resetMs: number;
}

/** The parameters of the gateway's own item in a List (RFC 9651). Proxies may add items of theirs. */
const ownItem = /"(?:key|unknown-keys)"([^,]*)/;

/**
 * Reads the headers `RateLimit` and `RateLimit-Policy` of a response, which the gateway sends while it has
 * a rate. Returns undefined without them.
 */
export function readRateLimit(headers: Pick<Headers, 'get'>): RateLimit | undefined {
  const [policy = '', limit = ''] = ['ratelimit-policy', 'ratelimit'].map(
    (name) => ownItem.exec(headers.get(name) ?? '')?.[1],
  );
  const [perSecond, remaining, seconds] = [
    /; *q=(\d+)/.exec(policy),
    /; *r=(\d+)/.exec(limit),
    /; *t=(\d+)/.exec(limit),
  ].map((match) => (match === null ? undefined : Number(match[1])));
  if (perSecond === undefined || remaining === undefined || seconds === undefined) return undefined;
  return { perSecond, remaining, resetMs: seconds * 1000 };
}
