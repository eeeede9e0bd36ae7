import { type DocumentNode, type ExecutionResult, print } from 'graphql';
import { parseJson } from '../contract/json.ts';
import type { Admission } from '../request/admission.ts';
import { setDeadline } from '../request/deadline.ts';
import { pickHeaders } from '../request/forwarded-headers.ts';
import type { RequestServer } from '../request/gateway-request.ts';
import { setIdempotencyKey } from '../request/idempotency-key.ts';
import { encodeResult } from './encode-result.ts';
import { graphqlErrorResult } from './error-response.ts';
import { refuseRounded } from './exact-variables.ts';
import type { GraphqlHandlerOptions } from './handler.ts';
import type { LocalCaller, LocalExecute, LocalResult } from './local-caller.ts';

/** What local execution shares with HTTP requests. */
interface LocalExecuteOptions
  extends Pick<GraphqlHandlerOptions, 'execute' | 'forwardHeaders' | 'maxTimeoutMs'>,
    Pick<RequestServer, 'open'> {
  readonly admission: Admission;
}

/** Creates local execution. Each document object is printed once. */
export function createLocalExecute(options: LocalExecuteOptions): LocalExecute {
  const { admission, execute, forwardHeaders } = options;
  const texts = new WeakMap<object, string>();

  function textOf(document: string | object): string {
    if (typeof document === 'string') return document;
    const text = texts.get(document) ?? print(document as DocumentNode);
    texts.set(document, text);
    return text;
  }

  return async (document, variables, given) => {
    const caller = given ?? {};
    const { signal, idempotencyKey: key, timeoutMs } = caller;
    const headers = {
      authorization: caller.authorization ?? undefined,
      'x-request-id': caller.requestId ?? undefined,
      traceparent: caller.traceparent ?? undefined,
      // Those who execute in this process know whether the result has data.
      accept: 'application/graphql-response+json',
      'x-petstore-explain': caller.explain ? '1' : undefined,
    };
    const head = { method: 'execute', path: '', headers };
    const request = options.open(head);
    const { scope, report } = request;
    if (signal) scope.follow({ signal });
    try {
      admission.admit(scope);
      if (key != null) setIdempotencyKey(scope, 'idempotencyKey', key);
      if (timeoutMs !== undefined) setDeadline(scope, 'timeoutMs', timeoutMs, options.maxTimeoutMs);
      if (forwardHeaders && caller.headers) {
        scope.forwarded = pickHeaders(forwardHeaders, { headers: lowerCased(caller.headers) });
      }
      const params = { query: textOf(document), variables: refuseRounded(variables ?? {}) };
      const result = await execute(request, params);
      const { body, isExecuted } = await encodeResult(result as ExecutionResult, request);
      report.status = isExecuted ? 200 : 400;
      return parseJson(body, String) as LocalResult<never>;
    } catch (error) {
      const reported = request.reportError(error);
      report.codes = [reported.code];
      report.status = reported.status;
      return graphqlErrorResult(reported, scope.requestId);
    } finally {
      request.end();
    }
  };
}

/** Names headers in lower case, without those that have no value. */
function lowerCased(headers: NonNullable<LocalCaller['headers']>): Record<string, string> {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const present = entries.filter(([, value]) => (value ?? undefined) !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
