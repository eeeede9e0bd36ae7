import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQL17Alpha9Handler } from '@apollo/client/incremental';

/** Creates a client that sends this API key, which exists only in the page's memory. */
export function createClient(apiKey: string): ApolloClient {
  return new ApolloClient({
    link: new HttpLink({ uri: '/graphql', headers: { authorization: `Bearer ${apiKey}` } }),
    cache: new InMemoryCache(),
    // Identifies this application in the gateway's log and metrics.
    clientAwareness: { name: 'petstore web example' },
    dataMasking: true,
    // Reads responses in parts, for @defer.
    incrementalHandler: new GraphQL17Alpha9Handler(),
  });
}
