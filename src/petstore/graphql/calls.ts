import { Calls, type CallsOf } from '../../graphql/calls.ts';
import { createInputChecks } from '../../graphql/invalid-input.ts';
import { contract, operations } from '../operations.ts';

/** The calls that the resolvers of one GraphQL request can make, one method per operation. */
export type PetStoreCalls = CallsOf<typeof operations>;

/** Their class, of which each request has an object. */
export const PetStoreCalls = Calls.of(contract);

/** What the resolvers need of the context of an operation. */
export interface PetStoreContext {
  readonly petStore: PetStoreCalls;
}

/** What arguments have to be, beyond their types. */
export const inputChecks = createInputChecks(operations);
