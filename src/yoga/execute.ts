import { type ExecutionResult, GraphQLError, OperationTypeNode } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { PetStoreCalls } from '../graphql/context.ts';
import { schema as ownSchema } from '../graphql/schema.ts';
import { HttpError } from '../http/error.ts';
import { nextTurn } from '../limits/turns.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Delivery } from './delivery.ts';
import type { HostAdditions } from './host-additions.ts';
import type { OperationContext } from './operation-context.ts';
import type { GraphqlParams } from './params.ts';
import type { DeliveredParts, ResultPart } from './parts.ts';
import { createDocumentFinder, type PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocuments } from './prepared-documents.ts';
import { createOperationServer, type OperationOptions } from './server.ts';

interface ExecuteOptions extends OperationOptions, HostAdditions {
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
}

/** A whole result, before its errors are typed. */
export interface WholeResult {
  readonly result: ExecutionResult;
  /** Whether an argument takes text that the result may repeat, which then is not compressed. */
  readonly takesText: boolean;
}

/** Executes the operation of a request. */
export type Execute = ReturnType<typeof createExecute>;

/** Creates the one way of an operation, which HTTP, Fetch and callers in the process share. */
export function createExecute(options: ExecuteOptions) {
  const { schema = ownSchema, petStore, persistedDocuments } = options;
  const documents = new PreparedDocuments();
  const finder = createDocumentFinder(persistedDocuments);
  const yoga = createOperationServer(schema, documents, finder, options);
  // Yoga's server is a Proxy, which would bind it again for each request.
  const { getEnveloped } = yoga;

  /**
   * Executes the operation of a request in Yoga's pipeline. What has to wait waits before it.
   * @param isExplained whether `extensions.calls` is wanted
   * @param delivery how deferred fragments are delivered; undefined for a whole result
   * @throws HttpError if the document has no operation of the name, or the request may not execute it
   */
  async function execute(
    request: GatewayRequest,
    params: GraphqlParams,
    isExplained: boolean,
    delivery?: Delivery,
  ): Promise<WholeResult | DeliveredParts> {
    const { scope, report } = request;
    const text = finder.find(params, scope.key);
    if (typeof text !== 'string') return notExecuted([text]);
    if (documents.isLong(text)) await nextTurn(scope);
    const context: OperationContext = {
      petStore: new PetStoreCalls(scope, petStore, isExplained && options.explain),
      params,
      scope,
      report,
      operation: undefined,
      delivery: undefined,
    };
    const pipeline = getEnveloped(context);
    try {
      const document = pipeline.parse(text);
      const errors: readonly GraphQLError[] = pipeline.validate(pipeline.schema, document);
      if (errors.length > 0) return notExecuted(errors);
      const prepared = documents.get(document);
      const operation = prepared?.find(params.operationName);
      if (!operation) throw unknownOperation(prepared?.operationNames ?? [], params);
      report.operation = operation.label;
      // A link must not change data.
      const isQuery = operation.definition.operation === OperationTypeNode.QUERY;
      const { method } = request.head;
      if (!isQuery && /^(?:GET|HEAD)$/.test(method)) throw expectedPost(method);
      if (operation.isDeferred || operation.isIntrospection) await nextTurn(scope);
      context.operation = operation;
      context.delivery = operation.isDeferred ? delivery : undefined;
      context.petStore.hasEqualReads = operation.rootFields.mayBeEqual;
      const built = pipeline.contextFactory();
      const result: ExecutionResult | AsyncIterable<ResultPart> = await pipeline.execute({
        schema: pipeline.schema,
        document,
        contextValue: built instanceof Promise ? await built : built,
        variableValues: params.variables ?? {},
        operationName: params.operationName,
      });
      if (!isAsyncIterable(result)) return { result, takesText: operation.takesText };
      if (delivery !== undefined) return { parts: result, delivery };
      // Of a plugin: other operations have parts only if the client accepts them.
      throw new HttpError(406, 'NOT_ACCEPTABLE', 'accept: expected a type for parts.');
    } catch (error) {
      if (error instanceof GraphQLError) return notExecuted([error]);
      throw error;
    }
  }

  /** Disposes the plugins. */
  return Object.assign(execute, { [Symbol.asyncDispose]: async () => yoga.dispose() });
}

/** Plugins may have refused it. */
function notExecuted(errors: readonly GraphQLError[]): WholeResult {
  return { result: { errors }, takesText: true };
}

function unknownOperation(
  names: readonly string[],
  { operationName: received }: GraphqlParams,
): HttpError {
  const quote = (name = '') => (name === '' ? 'none' : JSON.stringify(name.slice(0, 64)));
  const message = `operationName: expected ${names.slice(0, 10).map(quote).join(' or ')}, received ${quote(received)}. Upper and lower case differ.`;
  return new HttpError(400, 'OPERATION_RESOLUTION_FAILURE', message);
}

function expectedPost(received: string): HttpError {
  const message = `Expected POST for a mutation, received ${received}. Send it as the JSON body of a POST.`;
  return new HttpError(405, 'BAD_REQUEST', message, { allow: 'POST' });
}
