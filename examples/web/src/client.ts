import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { SetContextLink } from '@apollo/client/link/context';

/** Creates a client that sends the current API key. The key exists only in the page's memory. */
export function createClient(readKey: () => string): ApolloClient {
  return new ApolloClient({
    link: ApolloLink.from([
      new SetContextLink(({ headers }) => ({
        headers: { ...headers, authorization: `Bearer ${readKey()}` },
      })),
      new HttpLink({ uri: '/graphql' }),
    ]),
    cache: new InMemoryCache(),
    // Identifies this application in the gateway's log and metrics.
    clientAwareness: { name: 'petstore web example' },
    dataMasking: true,
    // Reads responses in parts, for @defer.
    incrementalHandler: new GraphQL17Alpha9Handler(),
  });
}
