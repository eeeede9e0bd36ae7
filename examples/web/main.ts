import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import {
  AddPetDocument,
  isGatewayError,
  ListPetsDocument,
  type ListPetsQuery,
  type PetStatus,
} from 'petstore-gateway/client';

const filter = form('filter');
const add = form('add');

const client = new ApolloClient({
  link: ApolloLink.from([
    // The key is asked for at every request: it is in no other place than the form.
    new SetContextLink(({ headers }) => ({
      headers: { ...headers, authorization: `Bearer ${field(filter, 'key')}` },
    })),
    new HttpLink({ uri: '/graphql' }),
  ]),
  cache: new InMemoryCache(),
});

filter.addEventListener('submit', (event) => {
  event.preventDefault();
  list();
});

add.addEventListener('submit', async (event) => {
  event.preventDefault();
  // An id stays the text that it is: a number would lose digits.
  const input = {
    name: field(add, 'name'),
    categoryId: field(add, 'categoryId'),
    status: status(add),
  };
  const { error } = await client.mutate({
    mutation: AddPetDocument,
    variables: { input },
    errorPolicy: 'all',
  });
  if (error) return tell(error);
  add.reset();
  await list();
});

list();

async function list(): Promise<void> {
  const { data, error } = await client.query({
    query: ListPetsDocument,
    variables: { limit: 100, status: status(filter) },
    fetchPolicy: 'network-only',
    errorPolicy: 'all',
  });
  show(data?.pets ?? []);
  tell(error);
}

function show(pets: NonNullable<ListPetsQuery['pets']>): void {
  const rows = pets.map(({ id, name, categoryId, status }) => {
    const row = document.createElement('tr');
    for (const text of [id, name, categoryId, status ?? '']) row.insertCell().textContent = text;
    return row;
  });
  document.getElementById('pets')?.replaceChildren(...rows);
}

/** Says what a person can do about an error; nothing when there is none. */
function tell(error: unknown): void {
  const problem = document.getElementById('problem');
  if (problem) problem.textContent = error === undefined ? '' : explain(error);
}

function explain(error: unknown): string {
  if (!CombinedGraphQLErrors.is(error)) return 'The gateway can not be reached. Is it running?';
  const [first] = error.errors;
  if (isGatewayError(first, 'UNAUTHENTICATED')) return 'This API key is not accepted.';
  if (isGatewayError(first, 'BAD_USER_INPUT')) return first.message;
  if (isGatewayError(first)) return `${first.message} (request ${first.extensions.requestId})`;
  return error.message;
}

function form(id: string): HTMLFormElement {
  return document.getElementById(id) as HTMLFormElement;
}

function field(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name));
}

function status(form: HTMLFormElement): PetStatus | null {
  return (field(form, 'status') || null) as PetStatus | null;
}
