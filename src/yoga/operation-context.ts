import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Delivery } from './delivery.ts';
import type { HostContext } from './host-context.ts';
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

/** The context of one operation, as the gateway's own plugins receive it. */
export interface OperationContext extends HostContext {
  readonly [own]: OperationState;
}

/** A plugin of the gateway. */
export type OperationPlugin = Plugin<OperationContext>;
