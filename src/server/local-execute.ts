import { type DocumentNode, print } from 'graphql';
import { JsonText } from '../execution/records-text.ts';
import { HttpError, internalError } from '../http/error.ts';
import { openRecord, type RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Admission } from './admission.ts';
import type { GraphqlHandler } from './graphql/handler.ts';
import type { TypedResult } from './graphql/typed-result.ts';
import type { LocalCaller, LocalExecute, LocalResult } from './local-caller.ts';

/** What the operations of this process go through. */
export interface LocalExecuteOptions {
  readonly telemetry: Telemetry;
  readonly admission: Admission;
  readonly graphql: GraphqlHandler;
}

/** Makes the function; a document that is an object is printed once. */
export function createLocalExecute(options: LocalExecuteOptions): LocalExecute {
  const { telemetry, admission, graphql } = options;
  const texts = new WeakMap<object, string>();

  function textOf(document: string | object): string {
    if (typeof document === 'string') return document;
    let text = texts.get(document);
    if (text === undefined) {
      text = print(document as DocumentNode);
      texts.set(document, text);
    }
    return text;
  }

  function refuse(error: unknown, record: RequestRecord): TypedResult {
    const { requestId } = record;
    if (!(error instanceof HttpError)) {
      telemetry.log.error({ err: error, requestId }, 'unexpected error');
    }
    const { code, message } = error instanceof HttpError ? error : internalError();
    record.codes = [code];
    return { errors: [{ message, extensions: { code, requestId } }] };
  }

  async function run(
    document: string | object,
    variables: object | undefined,
    { authorization: given, signal = never }: LocalCaller,
    record: RequestRecord,
  ): Promise<TypedResult> {
    const authorization = given ?? undefined;
    try {
      admission.enter(authorization);
      try {
        return await graphql.execute(
          { text: textOf(document), variables: { ...variables }, operationName: undefined },
          { authorization, signal, isReadOnly: false },
          record,
        );
      } finally {
        admission.leave(authorization);
      }
    } catch (error) {
      return refuse(error, record);
    }
  }

  return async <Data>(
    document: string | object,
    variables?: unknown,
    caller: LocalCaller = {},
  ): Promise<LocalResult<Data>> => {
    const { requestId, traceparent } = caller;
    const record = openRecord(telemetry, requestId ?? undefined, traceparent ?? undefined);
    const result = asObjects(await run(document, variables as object | undefined, caller, record));
    record.close({ method: 'execute', path: '', status: 'data' in result ? 200 : 400 });
    return result as LocalResult<Data>;
  };
}

/** The result with what is JSON text already as objects. */
function asObjects(result: TypedResult): TypedResult {
  if (!Object.values(result.data ?? {}).some((value) => value instanceof JsonText)) return result;
  const entries = Object.entries(result.data ?? {}).map(([key, value]) => [
    key,
    value instanceof JsonText ? value.toJSON() : value,
  ]);
  return { ...result, data: Object.fromEntries(entries) };
}

/** The signal of a caller who waits for as long as it takes. */
const never = new AbortController().signal;
