import type { ExecutionResult, GraphQLError } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../graphql/context.ts';
import { parseParams } from './params.ts';
import { recordErrors } from './plugins/use-request-record.ts';
import { type ReportError, typeErrors } from './plugins/use-typed-errors.ts';
import { type PlainAnswer, writeResult } from './result.ts';
import type { ServerContext } from './yoga.ts';

/**
 * Answers what nearly every request is, a JSON body with a query, through the same plugins as Yoga
 * does but without its Request and Response objects, which cost more than all the rest. Undefined
 * for anything else, which is then Yoga's; `begin` is called for what is answered.
 */
export type AnswerJsonPost = (
  text: string,
  accept: string | null,
  begin: () => ServerContext,
) => Promise<PlainAnswer> | undefined;

/** The members of a plain operation. Any other, such as `extensions`, is for Yoga and its plugins. */
const members = new Set(['query', 'variables', 'operationName']);

/** Makes the short way into a Yoga server. */
export function createJsonPost(
  yoga: YogaServerInstance<ServerContext, GatewayContext>,
  reportError: ReportError,
): AnswerJsonPost {
  return (text, accept, begin) => {
    let params: Record<string, unknown>;
    try {
      params = parseParams('body', text);
    } catch {
      return undefined;
    }
    if (!isPlain(params)) return undefined;
    const context = begin();
    return execute(yoga, params, context).then((result) => {
      const typed = typeErrors(result, context, reportError);
      recordErrors(typed, context.record);
      return writeResult(typed, accept);
    });
  };
}

interface PlainParams {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null;
  readonly operationName?: string | null;
}

function isPlain(params: Record<string, unknown>): params is Record<string, unknown> & PlainParams {
  const { query, variables, operationName } = params;
  return (
    typeof query === 'string' &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || (typeof variables === 'object' && !Array.isArray(variables))) &&
    Object.keys(params).every((name) => members.has(name))
  );
}

async function execute(
  yoga: YogaServerInstance<ServerContext, GatewayContext>,
  { query, variables, operationName }: PlainParams,
  context: ServerContext,
): Promise<ExecutionResult> {
  try {
    const enveloped = yoga.getEnveloped({ ...context, request, params: { operationName } });
    const document = enveloped.parse(query);
    const errors: readonly GraphQLError[] = enveloped.validate(enveloped.schema, document);
    if (errors.length > 0) return { errors };
    return await enveloped.execute({
      schema: enveloped.schema,
      document,
      contextValue: await enveloped.contextFactory(),
      variableValues: variables ?? undefined,
      operationName: operationName ?? undefined,
    });
  } catch (error) {
    return { errors: [error as GraphQLError] };
  }
}

/** All that Yoga's own plugins look at. */
const request = { method: 'POST' };
