'use client';

import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { ApolloProvider, useMutation, useQuery } from '@apollo/client/react';
import { AddPetDocument, isGatewayError, ListPetsDocument } from 'petstore-gateway/client';

const client = new ApolloClient({
  // Your application sends the key of the user who is signed in.
  link: new HttpLink({ uri: '/graphql', headers: { authorization: 'Bearer demo-key' } }),
  cache: new InMemoryCache(),
});

/** Reads and writes pets in the browser, through the route `/graphql`. */
export function Pets() {
  return (
    <ApolloProvider client={client}>
      <section>
        <h2>Read by the browser</h2>
        <Inventory />
      </section>
    </ApolloProvider>
  );
}

function Inventory() {
  // Not on the server, where a relative URL has no host.
  const { data, error } = useQuery(ListPetsDocument, { variables: { limit: 100 }, ssr: false });
  const [addPet, added] = useMutation(AddPetDocument, { refetchQueries: [ListPetsDocument] });
  return (
    <>
      <ul>
        {data?.pets?.map(({ id, name, status }) => (
          <li key={id}>
            {name} {status && <em>{status}</em>}
          </li>
        ))}
      </ul>
      <form
        action={async (form) => {
          const input = {
            name: String(form.get('name')),
            categoryId: String(form.get('category')),
          };
          // The error is shown below.
          await addPet({ variables: { input } }).catch(() => {});
        }}
      >
        <input name="name" aria-label="Name" placeholder="Name" required />
        <input name="category" aria-label="Category" placeholder="Category" required />
        <button type="submit">Add</button>
      </form>
      <Problem error={error ?? added.error} />
    </>
  );
}

function Problem({ error }: { error: unknown }) {
  if (!error) return null;
  const [first] = CombinedGraphQLErrors.is(error) ? error.errors : [];
  return (
    <p role="alert">
      {isGatewayError(first) ? `${first.extensions.code}: ${first.message}` : String(error)}
    </p>
  );
}
