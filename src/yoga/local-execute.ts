import { type DocumentNode, type ExecutionResult, print } from 'graphql';
import { parseJson } from '../contract/json.ts';
import type { Admission } from '../request/admission.ts';
import type { RequestServer } from '../request/gateway-request.ts';
import { applyHeaders, type HeaderOptions } from '../request/headers.ts';
import { graphqlErrorResult } from './delivery.ts';
import { encodeResult } from './encode-result.ts';
import type { Execute } from './execute.ts';
import type { LocalCaller, LocalExecute, LocalResult } from './local-caller.ts';
import { refuseRounded } from './params.ts';

/** What local execution shares with HTTP requests. */
interface LocalExecuteOptions extends HeaderOptions, Pick<RequestServer, 'open'> {
  readonly admission: Admission;
  readonly execute: Execute;
}

/** Creates local execution. Each document object is printed once. */
export function createLocalExecute(options: LocalExecuteOptions): LocalExecute {
  const { admission, execute } = options;
  const texts = new WeakMap<object, string>();

  function textOf(document: string | object): string {
    if (typeof document === 'string') return document;
    const text = texts.get(document) ?? print(document as DocumentNode);
    texts.set(document, text);
    return text;
  }

  return async (document, variables, given) => {
    const caller = given ?? {};
    // A caller in the process is a request with these headers.
    const headers = {
      authorization: caller.authorization ?? undefined,
      'x-request-id': caller.requestId ?? undefined,
      traceparent: caller.traceparent ?? undefined,
      'idempotency-key': caller.idempotencyKey ?? undefined,
      'x-petstore-timeout-ms': caller.timeoutMs?.toString(),
      'x-petstore-explain': caller.explain ? '1' : undefined,
      // Those who execute in this process know whether the result has data.
      accept: 'application/graphql-response+json',
    };
    const head = { method: 'execute', path: '', headers };
    const request = options.open(head);
    const { scope, report } = request;
    if (caller.signal) scope.follow({ signal: caller.signal });
    try {
      admission.admit(scope);
      Object.assign(headers, { ...pick(options.forwardHeaders, caller.headers), ...headers });
      applyHeaders(scope, head, options);
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

/** Returns the headers of these names, in lower case, without those that have no value. */
function pick(names: readonly string[] = [], headers: LocalCaller['headers'] = {}) {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(
    entries
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => names.includes(name) && (value ?? undefined) !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}
