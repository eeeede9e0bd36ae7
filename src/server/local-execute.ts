import { type DocumentNode, print } from 'graphql';
import { parseJson } from '../contract/json.ts';
import { HttpError } from '../http/error.ts';
import { graphqlErrorResult } from '../http/error-response.ts';
import { pickHeaders } from './graphql/forwarded-headers.ts';
import type { GraphqlHandler, GraphqlHandlerOptions } from './graphql/handler.ts';
import type { LocalExecute, LocalResult } from './local-caller.ts';
import type { RequestServer } from './request-record.ts';

/** What local execution shares with HTTP requests. */
interface LocalExecuteOptions
  extends Pick<GraphqlHandlerOptions, 'admission' | 'forwardHeaders' | 'refuse'>,
    Pick<RequestServer, 'open'> {
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

  return async (document, variables, caller = {}) => {
    const { signal } = caller;
    const headers = {
      authorization: caller.authorization ?? undefined,
      'x-request-id': caller.requestId ?? undefined,
      traceparent: caller.traceparent ?? undefined,
      // Those who execute in this process know whether the result has data.
      accept: 'application/graphql-response+json',
    };
    const record = options.open({ method: 'execute', path: '', headers });
    if (signal) record.follow(signal);
    try {
      admission.admit(record);
      requireExact('$', variables);
      if (forwardHeaders && caller.headers) {
        const all = Object.fromEntries(new Headers(caller.headers));
        record.forwarded = pickHeaders(forwardHeaders, all);
      }
      const params = { query: textOf(document), variables: { ...(variables as object) } };
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
