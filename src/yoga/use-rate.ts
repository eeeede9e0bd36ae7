import type { RateLimit } from '../request/rate-limit.ts';
import type { OperationPlugin } from './operation-context.ts';

/**
 * Takes the REST calls of an operation from the rate of its key: one per root field.
 * @throws HttpError if the rate is exceeded
 */
export function useRate(rateLimit: RateLimit): OperationPlugin {
  return {
    onExecute({ context: { scope, operation } }) {
      if (operation === undefined) return undefined;
      const { rootFields, needsKey } = operation;
      return rateLimit.take(scope.key, rootFields.count + Number(needsKey)) as
        | Promise<undefined>
        | undefined;
    },
  };
}
