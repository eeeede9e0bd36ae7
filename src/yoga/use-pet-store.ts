import {
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  valueFromASTUntyped,
} from 'graphql';
import { isAsyncIterable, type Maybe, type Plugin, type YogaInitialContext } from 'graphql-yoga';
import type { Backend } from '../contract/backend.ts';
import type { CallsContext } from '../graphql/calls.ts';
import type { GraphqlContract } from '../graphql/graphql-contract.ts';
import { badRequest, type HttpError } from '../http/error.ts';
import { readHead } from '../http/fetch.ts';
import { applyHeaders, type HeaderOptions } from '../request/headers.ts';
import { type RequestEnvironment, Scope } from '../request/scope.ts';
import { refuseRounded } from './params.ts';
import { stop } from './parts.ts';
import { typeOwnErrors } from './type-own-errors.ts';

/**
 * Sets `context.petStore` for the server of a host, with the key and the cancellation of the request, and
 * types the errors of its calls. Refuses ids that JavaScript has rounded. Everything else is the server's.
 */
export function usePetStoreCalls<Context extends CallsContext>(
  { schema, Calls: OwnCalls }: Pick<GraphqlContract, 'schema' | 'Calls'>,
  backend: Backend,
  environment: RequestEnvironment,
  options: HeaderOptions,
): Plugin<Context> {
  const ids = ['ID', ...Object.values(schema.getTypeMap()).filter(isInputObjectType).map(String)];

  /** Makes an executor refuse rounded ids and type the errors of each result. */
  const wrap = (execute: (args: ExecutionArgs) => unknown) => async (args: ExecutionArgs) => {
    const { petStore: calls, request } = args.contextValue as CallsContext & YogaInitialContext;
    const scope = calls.caller;
    if (!(scope instanceof Scope)) return execute(args);
    const operation = getOperationAST(args.document, args.operationName);
    const failed = {
      scope,
      report: { isMutation: operation?.operation === 'mutation' },
      reportError: (error: unknown) => environment.reportError(error, scope.requestId),
    };
    const variableValues = withoutRounded(operation, args.variableValues ?? {}, ids);
    const end = () => void scope.end();
    scope.begin();
    scope.onLeave = end;
    try {
      if (request.signal) scope.follow(request);
      return typeOwnErrors(await execute({ ...args, variableValues }), failed, end);
    } catch (error) {
      end();
      throw error;
    }
  };

  return {
    onRequestParse: ({ request }) => ({
      onRequestParseDone({ requestParserResult }) {
        if (!Array.isArray(requestParserResult) || !request.headers.has('idempotency-key')) return;
        throw toGraphQLError(badRequest('Idempotency-Key: expected one operation, not a batch.'));
      },
    }),
    onContextBuilding({ context: { request }, extendContext }) {
      const head = readHead(request);
      const scope = new Scope(environment, head);
      try {
        applyHeaders(scope, head, options);
      } catch (error) {
        throw toGraphQLError(error as HttpError);
      } finally {
        // Until it is executed, because plugins after this one may refuse it.
        scope.end();
      }
      const calls = new OwnCalls(scope, backend);
      calls.isPlain = true;
      extendContext({ petStore: calls } as Partial<YogaInitialContext & Context>);
    },
    onExecute: ({ executeFn, setExecuteFn }) => setExecuteFn(wrap(executeFn)),
    onSubscribe: ({ subscribeFn, setSubscribeFn }) => setSubscribeFn(wrap(subscribeFn)),
    // Yoga does not read a result in parts for clients that do not accept one.
    onResultProcess({ result, resultProcessor: found }) {
      if (!found && isAsyncIterable(result)) stop(result[Symbol.asyncIterator]());
    },
  };
}

/** Refuses numbers of these types that JavaScript has rounded, also in defaults, which the server's executor would round. */
function withoutRounded(operation: Maybe<OperationDefinitionNode>, given: object, ids: string[]) {
  const values: Record<string, unknown> = { ...given };
  for (const { type, variable, defaultValue } of operation?.variableDefinitions ?? []) {
    const name = variable.name.value;
    let named = type;
    while (named.kind !== Kind.NAMED_TYPE) named = named.type;
    if (!ids.includes(named.name.value)) continue;
    if (defaultValue && !(name in given)) values[name] = valueFromASTUntyped(defaultValue);
    if (name in values) Object.assign(values, refuseRounded({ [name]: values[name] }));
  }
  return values;
}

/** Returns the error for Yoga, which responds with the HTTP status in its extensions. */
function toGraphQLError({ message, code, status }: HttpError): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}
