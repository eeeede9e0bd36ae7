import type { ExecutionResult, GraphQLError } from 'graphql';
import { stringifyJson } from '../contract/json.ts';

/** An HTTP answer whose body is a string. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface HttpExtension {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** The status is meant for clients that speak GraphQL over HTTP; older ones get 200. */
  readonly spec?: boolean;
}

/**
 * Writes a GraphQL result as the GraphQL-over-HTTP specification says, in the media type that the
 * client asks for: `application/graphql-response+json`, or `application/json` for all who do not
 * ask. What `extensions.http` of the result and its errors say goes into the answer, not its body.
 */
export function writeResult(result: ExecutionResult, accept: string | null): PlainAnswer {
  const isLegacy = !wantsGraphqlResponse(accept);
  const headers: Record<string, string> = {
    'content-type': `application/${isLegacy ? 'json' : 'graphql-response+json'}; charset=utf-8`,
  };
  if (result.errors === undefined && result.extensions === undefined) {
    return { status: 200, headers, body: stringifyJson(result) };
  }
  let status = 0;
  const note = (http: HttpExtension | undefined) => {
    if (http === undefined) return;
    Object.assign(headers, http.headers);
    if (http.status !== undefined && !(isLegacy && http.spec))
      status = Math.max(status, http.status);
  };
  const { errors, extensions, ...rest } = result;
  const plain: Record<string, unknown> = {};
  if (errors !== undefined) plain['errors'] = errors.map((error) => withoutHttp(error, note));
  Object.assign(plain, rest);
  if (extensions !== undefined) {
    const { http, ...others } = extensions as { http?: HttpExtension };
    note(http);
    if (Object.keys(others).length > 0) plain['extensions'] = others;
  }
  return { status: status || 200, headers, body: stringifyJson(plain) };
}

function withoutHttp(error: GraphQLError, note: (http: HttpExtension | undefined) => void): object {
  const { http, ...extensions } = error.extensions as { http?: HttpExtension };
  note(http);
  const { message, locations, path } = error.toJSON();
  return { message, ...(locations && { locations }), ...(path && { path }), extensions };
}

/** Whether the first media type in `Accept` that we write is GraphQL's own. */
function wantsGraphqlResponse(accept: string | null): boolean {
  if (accept === null) return false;
  const written = /application\/graphql-response\+json|application\/json|application\/\*|\*\/\*/i;
  return written.exec(accept)?.[0].toLowerCase() === 'application/graphql-response+json';
}
