import type { GraphQLSchema } from 'graphql';

/** What a host adds. In a file of its own, so that the types of the package need no bundled packages. */
export interface HostAdditions {
  /** That of the gateway by default. */
  readonly schema?: GraphQLSchema | undefined;
  readonly plugins?: readonly (object | false | null | undefined)[] | undefined;
}
