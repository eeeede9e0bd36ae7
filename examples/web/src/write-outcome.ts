import { CombinedGraphQLErrors } from '@apollo/client';
import { isGatewayError, type WriteOutcome } from 'petstore-gateway-client';

/**
 * What became of a write that failed with this error. It may have been done if the gateway's response was
 * lost, and if a proxy responded instead, whose errors have no outcome.
 */
export function outcomeOf(error: unknown): WriteOutcome {
  const [first] = CombinedGraphQLErrors.is(error) ? error.errors : [];
  if (!isGatewayError(first)) return 'UNKNOWN';
  const { code, outcome } = first.extensions;
  return outcome ?? (code.startsWith('UPSTREAM_') ? 'UNKNOWN' : 'NOT_DONE');
}
