import { CombinedGraphQLErrors } from '@apollo/client';
import { isGatewayError } from 'petstore-gateway-client';
import { outcomeOf } from './write-outcome.ts';

interface ProblemProps {
  readonly error: unknown;
  readonly isWrite?: boolean;
  /** Reads again, or sends the same write again, which is done once. */
  readonly retry: () => void;
}

/** Describes an error, with advice and a button that tries again. */
export function Problem({ error, isWrite = false, retry }: ProblemProps) {
  const { title, advice, requestId, mayRetry = false } = explain(error, isWrite);
  return (
    <div className="problem" role="alert">
      <strong>{title}</strong>
      {advice && <p>{advice}</p>}
      {requestId && (
        <p className="request">
          Request <code>{requestId}</code>
        </p>
      )}
      {mayRetry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

interface Explanation {
  readonly title: string;
  readonly advice?: string;
  /** Identifies the request in the gateway's log. */
  readonly requestId?: string | undefined;
  readonly mayRetry?: boolean;
}

function explain(error: unknown, isWrite: boolean): Explanation {
  const [first] = CombinedGraphQLErrors.is(error) ? error.errors : [];
  if (isWrite && outcomeOf(error) === 'UNKNOWN') {
    return {
      title: 'The pet may have been added.',
      advice:
        'Sent again with the same values, it is added once. If that fails, too, look at the list.',
      mayRetry: true,
      requestId: isGatewayError(first) ? first.extensions.requestId : undefined,
    };
  }
  if (!isGatewayError(first)) {
    return {
      title: 'The gateway cannot be reached.',
      advice: 'Check that it is running, then try again.',
      mayRetry: true,
    };
  }
  const { message, extensions } = first;
  switch (extensions.code) {
    case 'UNAUTHENTICATED':
      return { title: 'This API key is not accepted.', advice: 'Enter a valid key above.' };
    case 'BAD_USER_INPUT':
      return { title: 'Please check what you entered.', advice: message };
    case 'RATE_LIMITED': {
      const seconds = Math.ceil((extensions.retryAfterMs ?? 1000) / 1000);
      return { title: 'Too many requests.', advice: `Wait ${seconds} s.`, mayRetry: true };
    }
    case 'UPSTREAM_TIMEOUT':
    case 'UPSTREAM_UNAVAILABLE': {
      return {
        title: 'The store does not respond.',
        advice: 'Try again in a moment.',
        requestId: extensions.requestId,
        mayRetry: true,
      };
    }
    default:
      return { title: message, requestId: extensions.requestId, mayRetry: true };
  }
}
