import { CombinedGraphQLErrors } from '@apollo/client';
import { isGatewayError } from 'petstore-gateway-client';

/** Returns what is wrong with each field of the variable `input`, by the field's name. */
export function inputIssues(error: unknown): ReadonlyMap<unknown, string> {
  const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
  const issues = errors.flatMap((entry) =>
    isGatewayError(entry, 'BAD_USER_INPUT') ? (entry.extensions.issues ?? []) : [],
  );
  return new Map(issues.map(({ path, message }) => [path[1], message]));
}
