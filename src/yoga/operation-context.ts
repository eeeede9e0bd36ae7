import type { Plugin } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { PetStoreCalls } from '../graphql/context.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Report } from '../request/report.ts';
import type { Scope } from '../request/scope.ts';
import type { Delivery } from './delivery.ts';
import type { GraphqlParams } from './params.ts';
import type { PreparedOperation } from './prepared-operation.ts';

/**
 * The context of one operation, which Yoga's hooks and the resolvers receive. It is the initial context:
 * plugins extend it.
 */
export class OperationContext {
  readonly petStore: PetStoreCalls;
  /** The parameters of the request, as Yoga's context has them. */
  readonly params: GraphqlParams;
  readonly scope: Scope;
  readonly report: Report;
  /** Set when the document is valid and has the operation. */
  operation: PreparedOperation | undefined = undefined;
  /** How deferred fragments are delivered; undefined for a whole result. */
  delivery: Delivery | undefined = undefined;

  /** @param isExplained whether the REST calls of each field are listed in `extensions.calls` */
  constructor(
    { scope, report }: GatewayRequest,
    params: GraphqlParams,
    petStore: PetStore,
    isExplained: boolean,
  ) {
    this.petStore = new PetStoreCalls(scope, petStore, isExplained);
    this.params = params;
    this.scope = scope;
    this.report = report;
  }
}

/** A plugin of the gateway: the hooks of one behaviour, with the context of each operation. */
export type OperationPlugin = Plugin<OperationContext>;
