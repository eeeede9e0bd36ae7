import { type DocumentNode, print } from 'graphql';
import { parsePlainJson } from '../contract/json.ts';
import { graphqlErrorResult } from '../http/error-response.ts';
import type { Refuse } from '../http/refuse.ts';
import { keyOf } from '../limits/key.ts';
import { openRecord, type RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Admission } from './admission.ts';
import { EncodedParts } from './graphql/encoded-parts.ts';
import type { Caller, GraphqlHandler, OperationRequest } from './graphql/handler.ts';
import { mergeParts, type PartialResult } from './graphql/merge-parts.ts';
import { writeBounded } from './graphql/response-size.ts';
import { type TypedPart, TypedParts } from './graphql/typed-parts.ts';
import type { TypedResult } from './graphql/typed-result.ts';
import type {
  LocalCaller,
  LocalExecution,
  LocalPartialResult,
  LocalResult,
} from './local-caller.ts';

/** Options of `createLocalExecution`. */
export interface LocalExecuteOptions {
  readonly telemetry: Telemetry;
  readonly admission: Admission;
  readonly refuse: Refuse;
  readonly graphql: GraphqlHandler;
}

/** Creates local execution. Each document object is printed once. */
export function createLocalExecution(options: LocalExecuteOptions): LocalExecution {
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

  function open({ requestId, traceparent }: LocalCaller, scope: DisposableStack): RequestRecord {
    const line = { method: 'execute', path: '' };
    const trace = traceparent ?? undefined;
    return scope.use(openRecord(telemetry, line, requestId ?? undefined, trace));
  }

  function refuse(error: unknown, record: RequestRecord): TypedResult {
    const { requestId } = record;
    const refusal = options.refuse(error, requestId);
    record.codes = [refusal.code];
    return graphqlErrorResult(refusal, requestId);
  }

  function toRequest(document: string | object, variables: unknown): OperationRequest {
    return { text: textOf(document), variables: { ...(variables as object | undefined) } };
  }

  function toCaller(
    { authorization, signal = never }: LocalCaller,
    scope: DisposableStack,
  ): Caller {
    const given = authorization ?? undefined;
    return { authorization: given, key: keyOf(given), signal, isReadOnly: false, scope };
  }

  async function run(
    document: string | object,
    variables: unknown,
    caller: Caller,
    record: RequestRecord,
  ): Promise<TypedResult> {
    try {
      caller.scope.defer(admission.enter(caller.key, record));
      const request = toRequest(document, variables);
      return toPlain(await graphql.execute(request, caller, record), record);
    } catch (error) {
      return refuse(error, record);
    }
  }

  async function* runIncrementally(
    document: string | object,
    variables: unknown,
    caller: Caller,
    record: RequestRecord,
  ): AsyncGenerator<PartialResult, void> {
    try {
      caller.scope.defer(admission.enter(caller.key, record));
      const request = toRequest(document, variables);
      const result = await graphql.executeIncrementally(request, caller, record);
      if (result instanceof TypedParts) yield* mergeParts(toPlainParts(result, record));
      else yield { ...toPlain(result, record), hasNext: false };
    } catch (error) {
      yield { ...refuse(error, record), hasNext: false };
    }
  }

  return {
    async execute<Data>(document: string | object, variables?: unknown, caller: LocalCaller = {}) {
      const scope = new DisposableStack();
      try {
        const record = open(caller, scope);
        const result = await run(document, variables, toCaller(caller, scope), record);
        record.status = statusOf(result);
        return result as LocalResult<Data>;
      } finally {
        scope.dispose();
      }
    },

    async *executeIncrementally<Data>(
      document: string | object,
      variables?: unknown,
      caller: LocalCaller = {},
    ) {
      const scope = new DisposableStack();
      try {
        const record = open(caller, scope);
        const results = runIncrementally(document, variables, toCaller(caller, scope), record);
        for await (const result of results) {
          record.status = statusOf(result);
          yield result as LocalPartialResult<Data>;
        }
      } finally {
        scope.dispose();
      }
    },
  };
}

function statusOf(result: TypedResult): number {
  return 'data' in result ? 200 : 400;
}

/** Returns what an HTTP client would parse: plain objects, which belong to one caller. */
function toPlain(result: TypedResult, record: RequestRecord): TypedResult {
  return parsePlainJson(writeBounded(result, record)) as TypedResult;
}

async function* toPlainParts(
  parts: TypedParts,
  record: RequestRecord,
): AsyncGenerator<TypedPart, void> {
  const texts = new EncodedParts(parts, (json) => json, record);
  for await (const text of texts) yield parsePlainJson(text) as TypedPart;
}

/** The signal of a caller without a deadline. */
const never = new AbortController().signal;
