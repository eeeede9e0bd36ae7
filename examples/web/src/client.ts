import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { SetContextLink } from '@apollo/client/link/context';

/** A client that sends the API key of the moment. The key is kept in the page's memory only. */
export function createClient(readKey: () => string): ApolloClient {
  return new ApolloClient({
    link: ApolloLink.from([
      new SetContextLink(({ headers }) => ({
        headers: { ...headers, authorization: `Bearer ${readKey()}` },
      })),
      new HttpLink({ uri: '/graphql' }),
    ]),
    cache: new InMemoryCache(),
    // How the gateway's log and metrics name this application.
    clientAwareness: { name: 'petstore web example' },
    dataMasking: true,
    // Reads responses in parts, for @defer.
    incrementalHandler: new GraphQL17Alpha9Handler(),
  });
}
