import { getOperationAST } from 'graphql';
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
      const name = operation.name?.value;
      contextValue.record.operation = { type: operation.operation, name };
    },
    onResultProcess({ result, serverContext: { record } }) {
      if (!('errors' in result) || result.errors === undefined) return;
      record.codes = result.errors.map(({ extensions }) => String(extensions['code']));
    },
  };
}
