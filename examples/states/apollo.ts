import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { AddPetDocument } from 'petstore-gateway-client';
import { screenOf } from './screen.ts';

const [, , key] = process.argv;
const headers = { authorization: `Bearer ${key}` };
const client = new ApolloClient({
  link: new HttpLink({ uri: 'http://127.0.0.1:4000/graphql', headers }),
  cache: new InMemoryCache(),
});
const { data, error } = await client.mutate({
  mutation: AddPetDocument,
  variables: { input: { name: 'Rex', categoryId: '1', status: 'pending' } },
  errorPolicy: 'all',
});
const errors = CombinedGraphQLErrors.is(error) ? error.errors : error ? undefined : [];
console.log(screenOf('mutation', data, errors));
