import type { GraphQLSchema } from 'graphql';
import type { Backend } from '../contract/backend.ts';
import type { Calls } from './calls.ts';
import type { InputChecks } from './invalid-input.ts';

/** A contract in GraphQL. */
export interface GraphqlContract {
  readonly schema: GraphQLSchema;
  /** The class of the calls that its resolvers make. */
  readonly Calls: new (
    caller: Calls['caller'],
    backend: Backend,
    isExplained?: boolean,
  ) => Calls;
  /** What arguments have to be, beyond their types. */
  readonly inputChecks: InputChecks;
}
