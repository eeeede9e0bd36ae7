import { type DocumentNode, print } from 'graphql';
import { jsonType, parseJson } from '../contract/json.ts';
import { graphqlErrorResult } from '../http/error-response.ts';
import { setDeadline } from '../request/deadline.ts';
import { pickHeaders } from '../request/forwarded-headers.ts';
import { RequestRecord, type RequestServer } from '../request/request-record.ts';
import type { GraphqlHandler, GraphqlHandlerOptions } from './handler.ts';
import type { LocalCaller, LocalExecute, LocalResult } from './local-caller.ts';

/** What local execution shares with HTTP requests. */
interface LocalExecuteOptions
  extends Pick<GraphqlHandlerOptions, 'admission' | 'forwardHeaders' | 'maxTimeoutMs' | 'refuse'>,
    Pick<RequestServer, 'environment'> {
  readonly graphql: GraphqlHandler;
}

/** Creates local execution. Each document object is printed once. */
export function createLocalExecute(options: LocalExecuteOptions): LocalExecute {
  const { admission, graphql, forwardHeaders } = options;
  const texts = new WeakMap<object, string>();

  function textOf(document: string | object): string {
    if (typeof document === 'string') return document;
    const text = texts.get(document) ?? print(document as DocumentNode);
    texts.set(document, text);
    return text;
  }

  return async (document, variables, given) => {
    const caller = given ?? {};
    const { signal } = caller;
    const headers = {
      authorization: caller.authorization ?? undefined,
      'x-request-id': caller.requestId ?? undefined,
      traceparent: caller.traceparent ?? undefined,
      // Those who execute in this process know whether the result has data.
      accept: 'application/graphql-response+json',
    };
    const head = { method: 'execute', path: '', headers };
    const record = new RequestRecord(options.environment, head);
    if (signal) record.follow({ signal });
    try {
      admission.admit(record);
      setDeadline(record, 'timeoutMs', caller.timeoutMs, options.maxTimeoutMs);
      if (forwardHeaders && caller.headers) {
        record.forwarded = pickHeaders(forwardHeaders, { headers: lowerCased(caller.headers) });
      }
      const params = { query: textOf(document), variables: refuseRounded(variables ?? {}) };
      const { status, body } = await graphql.execute(record, params, caller.explain === true);
      record.status = status;
      return parseJson(body as string, String) as LocalResult<never>;
    } catch (error) {
      const refusal = options.refuse(error, record.requestId);
      record.codes = [refusal.code];
      record.status = 400;
      return graphqlErrorResult(refusal, record.requestId);
    } finally {
      record.end();
    }
  };
}

/** Names headers in lower case, without those that have no value. */
function lowerCased(headers: NonNullable<LocalCaller['headers']>): Record<string, string> {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const present = entries.filter(([, value]) => (value ?? undefined) !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** Replaces each number that JavaScript may have rounded, also in members, by a value that no type accepts. */
function refuseRounded(variables: object): Record<string, unknown> {
  const entries = Object.entries(variables).map(([name, value]) => {
    if (jsonType(value) === 'object') return [name, refuseRounded(value)];
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return [name, value];
    // Messages of graphql-js show what `toJSON` returns.
    const shown = `the number ${value}, which may be rounded: pass a string or a bigint`;
    return [name, { toJSON: () => shown }];
  });
  return Object.fromEntries(entries);
}
