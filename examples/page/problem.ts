import type { CombinedError } from '@urql/core';
import { isGatewayError } from 'petstore-gateway-client';

export function describeProblem(
  { networkError, graphQLErrors }: CombinedError,
  kind: 'query' | 'mutation',
): string {
  const again = 'Try again later.';
  // A write whose response is lost may have been done.
  const advice = kind === 'query' ? again : 'The pet may have been added.';
  if (networkError) return `The gateway does not respond. ${advice}`;
  const sentences = graphQLErrors.map((error) => {
    if (isGatewayError(error, 'UNAUTHENTICATED')) return 'This API key is not accepted.';
    if (isGatewayError(error, 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT', 'OVERLOADED')) {
      const { outcome } = error.extensions;
      return `The pet store does not respond. ${outcome === 'NOT_DONE' ? again : advice}`;
    }
    // Such as the reason why a value is not valid.
    return error.message;
  });
  return sentences.join(' ');
}
