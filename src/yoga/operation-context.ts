import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { PetStoreContext } from '../graphql/context.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Delivery } from './delivery.ts';
import type { GraphqlParams } from './params.ts';
import type { PreparedDocument } from './prepared-documents.ts';

/** The member of the context that is the gateway's own: a symbol collides with no name of a host. */
export const own: unique symbol = Symbol('petstore-gateway');

/** The request of one operation, what is known of its document, and how its result is delivered. */
export interface OperationState {
  readonly request: GatewayRequest;
  readonly text: string;
  /** What the parser has made of the text; another document is a plugin's. */
  parsed?: DocumentNode;
  /** The document of the text, if the text is known. */
  readonly known: PreparedDocument | undefined;
  /** How deferred fragments are delivered; undefined for a whole result. */
  readonly delivery: Delivery | undefined;
  /** The result of the gateway's executor, if it may have parts. */
  executed?: unknown;
}

/** The context of one operation, which Yoga's hooks and the resolvers receive, and plugins extend. */
export interface OperationContext extends PetStoreContext {
  /** The parameters of the request, as Yoga's context has them. */
  readonly params: GraphqlParams;
  /** Members of a `Request` (WHATWG Fetch), if the host has plugins. */
  request?: Pick<Request, 'method' | 'url' | 'headers'>;
  readonly [own]: OperationState;
}

/** A plugin of the gateway: the hooks of one behaviour, with the context of each operation. */
export type OperationPlugin = Plugin<OperationContext>;
