import {
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  print,
  type VariableDefinitionNode,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { type GatewayContext, PetStoreCalls } from '../graphql/context.ts';
import { isOfPetStore, typedError } from '../graphql/errors.ts';
import { readHead } from '../http/fetch.ts';
import type { Refuse } from '../http/refuse.ts';
import type { RequestEnvironment } from '../request/request-environment.ts';
import { RequestRecord } from '../request/request-record.ts';
import { refuseRounded } from './exact-variables.ts';
import { labelOf } from './prepared-operation.ts';

/** What the plugin makes calls with. */
interface PetStoreOptions {
  readonly petStore: PetStore;
  readonly environment: RequestEnvironment;
  readonly forwardHeaders: readonly string[] | undefined;
  /** Logs unexpected errors. */
  readonly refuse: Refuse;
}

/**
 * Sets `context.petStore` for the server of a host, with the key and the cancellation of the request, and
 * types the errors of its calls. Refuses ids that JavaScript has rounded. Everything else is the server's.
 */
export function usePetStoreCalls(options: PetStoreOptions): Plugin<GatewayContext> {
  const { petStore, environment, forwardHeaders, refuse } = options;
  const records = new WeakMap<PetStoreCalls, RequestRecord>();

  function typeErrors(
    { errors, ...rest }: ExecutionResult,
    record: RequestRecord,
  ): ExecutionResult {
    return errors ? { ...rest, errors: errors.map((error) => typeError(error, record)) } : rest;
  }

  function typeError(error: GraphQLError, record: RequestRecord): GraphQLError {
    // Others are masked by the server.
    if (!isOfPetStore(error)) return error;
    const { nodes, source, positions, path } = error;
    const report = (cause: unknown) => refuse(cause, record.requestId);
    const { message, extensions } = typedError(error, record, report);
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  }

  return {
    onContextBuilding({ context: { request }, extendContext }) {
      const record = new RequestRecord(environment, readHead(request, forwardHeaders));
      record.follow(request);
      const calls = new PetStoreCalls(record, petStore);
      records.set(calls, record);
      extendContext({ petStore: calls });
    },
    onExecute({ args }) {
      const record = records.get(args.contextValue.petStore);
      if (record === undefined) return undefined;
      const operation = getOperationAST(args.document, args.operationName);
      if (operation) record.operation = labelOf(operation);
      const ids = operation?.variableDefinitions?.filter(takesId);
      for (const {
        variable: { name },
      } of ids ?? []) {
        Object.assign(
          args.variableValues,
          refuseRounded({ [name.value]: args.variableValues[name.value] }),
        );
      }
      return {
        onExecuteDone({ result, setResult }) {
          if (isAsyncIterable(result)) {
            return {
              onNext: (next) => next.setResult(typeErrors(next.result, record)),
              onEnd: () => record.endUnreported(),
            };
          }
          setResult(typeErrors(result, record));
          record.endUnreported();
          return undefined;
        },
      };
    },
    onSubscribe({ args }) {
      const record = records.get(args.contextValue.petStore);
      const onEnd = () => record?.endUnreported();
      return {
        onSubscribeResult: ({ result }) => (isAsyncIterable(result) ? { onEnd } : onEnd()),
      };
    },
  };
}

/** Whether the type of a variable is an id or has one of the pet store. */
function takesId({ type }: VariableDefinitionNode): boolean {
  return /^(?:ID|AddPetInput)$/.test(print(type).replace(/[[\]!]/g, ''));
}
