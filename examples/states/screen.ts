import { isGatewayError } from 'petstore-gateway-client';

type Kind = 'query' | 'mutation';

export interface Problem {
  text: string;
  retryAfterMs?: number;
  /** Fetch lists again: something was saved, or may have been. */
  reload?: true;
}

const lost: Problem = { text: 'It may have been saved. Look before you try again.', reload: true };

/** Returns the fields with data, those with an empty list, and one problem. */
export function screenOf(
  kind: Kind,
  data: object | null | undefined,
  errors: readonly unknown[] = [undefined],
) {
  const found: string[] = [];
  const empty: string[] = [];
  for (const [name, value] of Object.entries(data ?? {})) {
    // A failed field is null, and not empty.
    if (value === null || name === '__typename') continue;
    (Array.isArray(value) && value.length === 0 ? empty : found).push(name);
  }
  const problems = errors.map((error) => problemOf(kind, error));
  // Comes first, because without its Idempotency-Key, "Try again" could do it twice.
  return { found, empty, problem: problems.includes(lost) ? lost : problems[0] };
}

function problemOf(kind: Kind, error: unknown): Problem {
  if (!isGatewayError(error)) {
    return kind === 'mutation' ? lost : { text: 'The gateway cannot be reached. Try again.' };
  }
  const { code, requestId } = error.extensions;
  // A proxy's own error has no outcome.
  const { outcome = code.startsWith('UPSTREAM_') && 'UNKNOWN' } = error.extensions;
  if (kind === 'mutation' && outcome === 'UNKNOWN') return lost;
  if (outcome === 'DONE') return { text: 'It was saved. Reload to see it.', reload: true };
  switch (code) {
    case 'UNAUTHENTICATED':
      return { text: 'Enter another key.' };
    case 'RATE_LIMITED':
    case 'OVERLOADED': {
      const { retryAfterMs = 1000 } = error.extensions;
      return { text: `Wait ${Math.ceil(retryAfterMs / 1000)} s.`, retryAfterMs };
    }
    case 'UPSTREAM_TIMEOUT':
    case 'UPSTREAM_UNAVAILABLE':
      return { text: 'The store does not respond. Try again.' };
    case 'BAD_USER_INPUT':
    case 'FORBIDDEN':
    case 'NOT_FOUND':
    case 'CONFLICT':
      return { text: error.message };
    default:
      return { text: `Something went wrong. Report the request ${requestId}.` };
  }
}
