import { type DocumentNode, print } from 'graphql';
import { parsePlainJson } from '../contract/json.ts';
import { HttpError } from '../http/error.ts';
import { graphqlErrorResult } from '../http/error-response.ts';
import type { Refuse } from '../http/refuse.ts';
import { keyOf } from '../limits/key.ts';
import { openRecord, type RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Admission } from './admission.ts';
import type { Delivery } from './graphql/encoded-parts.ts';
import type { EncodedResult } from './graphql/encoded-result.ts';
import type { GraphqlHandler } from './graphql/handler.ts';
import type {
  LocalCaller,
  LocalExecution,
  LocalPartialResult,
  LocalResult,
} from './local-caller.ts';
import { mergeParts } from './merge-parts.ts';

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
    const headers = {
      'x-request-id': requestId ?? undefined,
      traceparent: traceparent ?? undefined,
    };
    return scope.use(openRecord(telemetry, line, headers));
  }

  function refuse(error: unknown, record: RequestRecord): LocalResult<never> {
    const { requestId } = record;
    const refusal = options.refuse(error, requestId);
    record.codes = [refusal.code];
    record.status = 400;
    return graphqlErrorResult(refusal, requestId);
  }

  async function run(
    document: string | object,
    variables: unknown,
    { signal = never, ...caller }: LocalCaller,
    record: RequestRecord,
    scope: DisposableStack,
    delivery?: Delivery,
  ): Promise<EncodedResult> {
    const authorization = caller.authorization ?? undefined;
    const key = keyOf(authorization);
    scope.defer(admission.enter(key, record));
    requireExact('$', variables);
    const request = { text: textOf(document), variables: { ...(variables as object | undefined) } };
    const explain = caller.explain === true;
    const headers = caller.headers ? Object.fromEntries(new Headers(caller.headers)) : {};
    const rest = { headers, isReadOnly: false, explain, record, scope, delivery: () => delivery };
    const result = await graphql.execute(request, { authorization, key, signal, ...rest });
    record.status = result.isExecuted ? 200 : 400;
    return result;
  }

  return {
    async execute<Data>(document: string | object, variables?: unknown, caller: LocalCaller = {}) {
      const scope = new DisposableStack();
      const record = open(caller, scope);
      try {
        const { body } = await run(document, variables, caller, record, scope);
        // Without a delivery, it is whole.
        return parsePlainJson(body as string) as LocalResult<Data>;
      } catch (error) {
        return refuse(error, record);
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
      const record = open(caller, scope);
      try {
        const { body } = await run(document, variables, caller, record, scope, asJson);
        yield* mergeParts(body) as AsyncGenerator<LocalPartialResult<Data>, void>;
      } catch (error) {
        yield { ...refuse(error, record), hasNext: false };
      } finally {
        scope.dispose();
      }
    },
  };
}

/** @throws HttpError if a variable or a member of one is a number that JavaScript may have rounded. */
function requireExact(path: string, values: unknown): void {
  for (const [name, value] of Object.entries(values ?? {})) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const problem = `expected an integer beyond 2^53 as a string or a bigint, received the number ${value}, which may be rounded`;
      throw new HttpError(400, 'BAD_USER_INPUT', `${path}${name}: ${problem}.`);
    }
    if (path === '$') requireExact(`$${name}.`, value);
  }
}

/** Delivers parts as JSON texts. */
const asJson: Delivery = {
  format: 'incrementalSpec=v0.2',
  contentType: 'application/json',
  frame: (json) => json,
};

/** The signal of a caller without a deadline. */
const never = new AbortController().signal;
