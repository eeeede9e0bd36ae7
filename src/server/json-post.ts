import type { DocumentNode, ExecutionResult, GraphQLError } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { createContext, type GatewayContext } from '../graphql/context.ts';
import { schema } from '../graphql/schema.ts';
import { parseParams } from './params.ts';
import { tellDeprecations } from './plugins/use-deprecations.ts';
import { recordErrors } from './plugins/use-request-record.ts';
import { type ReportError, typeErrors } from './plugins/use-typed-errors.ts';
import { PreparedOperations } from './prepared.ts';
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
  petStore: PetStore,
  reportError: ReportError,
): AnswerJsonPost {
  const operations = new PreparedOperations(schema);

  function execute(params: PlainParams, context: ServerContext): Promise<ExecutionResult> {
    const { query, variables } = params;
    const operationName = params.operationName ?? undefined;
    const prepared = operations.get(query, operationName);
    if (prepared === undefined) {
      return executeByPlugins(yoga, params, context, (document) =>
        operations.note(query, operationName, document),
      );
    }
    const { authorization, requestId, signal, record } = context;
    const result = prepared.execute(
      createContext({ petStore, authorization, requestId, signal, listener: record }),
      variables ?? {},
    );
    // The reference executor says what is wrong with variables in the words that clients know.
    if (result === undefined) return executeByPlugins(yoga, params, context, () => {});
    const { type, name, deprecations } = prepared;
    record.setOperation(type, name);
    if (deprecations.length === 0) return result;
    return result.then((told) => tellDeprecations(told, deprecations, record));
  }

  return (text, accept, begin) => {
    let params: Record<string, unknown>;
    try {
      params = parseParams('body', text);
    } catch {
      return undefined;
    }
    if (!isPlain(params)) return undefined;
    const context = begin();
    return execute(params, context).then((result) => {
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

/** `onChecked` is told of a document that has passed every check of the plugins. */
async function executeByPlugins(
  yoga: YogaServerInstance<ServerContext, GatewayContext>,
  { query, variables, operationName }: PlainParams,
  context: ServerContext,
  onChecked: (document: DocumentNode) => void,
): Promise<ExecutionResult> {
  try {
    const enveloped = yoga.getEnveloped({ ...context, request, params: { operationName } });
    const document = enveloped.parse(query);
    const errors: readonly GraphQLError[] = enveloped.validate(enveloped.schema, document);
    if (errors.length > 0) return { errors };
    onChecked(document);
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
