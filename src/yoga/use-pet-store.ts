import {
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  print,
  type VariableDefinitionNode,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { PetStoreCalls, type PetStoreContext } from '../graphql/context.ts';
import { type FailedRequest, isOfPetStore, typedError } from '../graphql/errors.ts';
import type { HttpError } from '../http/error.ts';
import { readHead } from '../http/fetch.ts';
import { applyHeaders, type HeaderOptions } from '../request/headers.ts';
import { type RequestEnvironment, Scope } from '../request/scope.ts';
import { refuseRounded } from './params.ts';

/**
 * Sets `context.petStore` for the server of a host, with the key and the cancellation of the request, and
 * types the errors of its calls. Refuses ids that JavaScript has rounded. Everything else is the server's.
 */
export function usePetStoreCalls(
  petStore: PetStore,
  environment: RequestEnvironment,
  options: HeaderOptions,
): Plugin<PetStoreContext> {
  const scopes = new WeakMap<PetStoreCalls, Scope>();

  return {
    onContextBuilding({ context: { request }, extendContext }) {
      const head = readHead(request);
      const scope = new Scope(environment, head);
      scope.follow(request);
      try {
        applyHeaders(scope, head, options);
      } catch (error) {
        scope.end();
        throw toGraphQLError(error as HttpError);
      }
      const calls = new PetStoreCalls(scope, petStore);
      scopes.set(calls, scope);
      extendContext({ petStore: calls });
    },
    onExecute({ args }) {
      const scope = scopes.get(args.contextValue.petStore);
      if (scope === undefined) return undefined;
      const operation = getOperationAST(args.document, args.operationName);
      const failed = {
        scope,
        report: { isMutation: operation?.operation === 'mutation' },
        reportError: (error: unknown) => environment.reportError(error, scope.requestId),
      };
      const values = args.variableValues;
      for (const { variable } of operation?.variableDefinitions?.filter(takesId) ?? []) {
        const name = variable.name.value;
        Object.assign(values, refuseRounded({ [name]: values[name] }));
      }
      return {
        onExecuteDone({ result, setResult }) {
          if (isAsyncIterable(result)) {
            return {
              onNext: (next) => next.setResult(typeErrors(next.result, failed)),
              onEnd: () => scope.end(),
            };
          }
          setResult(typeErrors(result, failed));
          scope.end();
          return undefined;
        },
      };
    },
    onSubscribe({ args }) {
      const scope = scopes.get(args.contextValue.petStore);
      const onEnd = () => void scope?.end();
      return {
        onSubscribeResult: ({ result }) => (isAsyncIterable(result) ? { onEnd } : onEnd()),
      };
    },
  };
}

function typeErrors({ errors, ...rest }: ExecutionResult, failed: FailedRequest): ExecutionResult {
  return errors ? { ...rest, errors: errors.map((error) => typeError(error, failed)) } : rest;
}

function typeError(error: GraphQLError, failed: FailedRequest): GraphQLError {
  // Others are masked by the server.
  if (!isOfPetStore(error)) return error;
  const { nodes, source, positions, path } = error;
  const { message, extensions } = typedError(error, failed);
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

/** Whether the type of a variable is an id or has one of the pet store. */
function takesId({ type }: VariableDefinitionNode): boolean {
  return /^(?:ID|AddPetInput)$/.test(print(type).replace(/[[\]!]/g, ''));
}

/** Returns the error for Yoga, which responds with the HTTP status in its extensions. */
export function toGraphQLError({ message, code, status }: HttpError): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}
