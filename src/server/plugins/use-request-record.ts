import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestRecord } from '../../telemetry/request-record.ts';

interface Recording {
  readonly record: RequestRecord;
}

/** Notes which operation a request carries and which errors its result has. */
export function useRequestRecord(): Plugin<Recording, Recording> {
  return {
    onExecute({ args }) {
      const { document, operationName, contextValue } = args;
      const operation = getOperationAST(document, operationName);
      if (!operation) return;
      contextValue.record.setOperation(operation.operation, operation.name?.value);
    },
    onResultProcess({ result, serverContext: { record } }) {
      recordErrors(result as ExecutionResult, record);
    },
  };
}

/** Notes the codes of the errors, as the client sees them. */
export function recordErrors({ errors }: ExecutionResult, record: RequestRecord): void {
  if (errors === undefined) return;
  record.codes = errors.map(({ extensions }) => String(extensions['code']));
}
