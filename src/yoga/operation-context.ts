import type { Plugin } from 'graphql-yoga';
import type { PetStoreContext } from '../graphql/context.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Delivery } from './delivery.ts';
import type { GraphqlParams } from './params.ts';
import type { PreparedDocument } from './prepared-documents.ts';
import type { PreparedOperation } from './prepared-operation.ts';

/**
 * The context of one operation, which Yoga's hooks and the resolvers receive. It is the initial context:
 * plugins extend it.
 */
export interface OperationContext
  extends PetStoreContext,
    Pick<GatewayRequest, 'scope' | 'report'> {
  /** The parameters of the request, as Yoga's context has them. */
  readonly params: GraphqlParams;
  /** Set if the document is known, or when it is valid. */
  prepared?: PreparedDocument | undefined;
  /** Set when the document is valid and has the operation. */
  operation?: PreparedOperation;
  /** How deferred fragments are delivered; undefined for a whole result. */
  delivery?: Delivery | undefined;
}

/** A plugin of the gateway: the hooks of one behaviour, with the context of each operation. */
export type OperationPlugin = Plugin<OperationContext>;
