import { Client, fetchExchange } from '@urql/core';
import { AddPetDocument, ListPetsDocument } from 'petstore-gateway-client';
import { describeProblem } from './problem.ts';

const client = new Client({
  url: '/graphql',
  fetchOptions: { headers: { authorization: 'Bearer demo-key' } },
  exchanges: [fetchExchange],
});
const list = document.querySelector('ul') as HTMLElement;
const alert = document.querySelector('[role=alert]') as HTMLElement;
const form = document.querySelector('form') as HTMLFormElement;

async function showPets() {
  const { data, error } = await client.query(ListPetsDocument, { limit: 100 });
  alert.textContent = error ? describeProblem(error, 'query') : '';
  // Keep the last list if this one could not be read.
  if (!data?.pets) return;
  const items = data.pets.map(({ name, status }) => {
    const item = document.createElement('li');
    item.textContent = `${name}, ${status ?? 'no status'}`;
    return item;
  });
  list.replaceChildren(...items);
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  // Ids stay text: a JavaScript number would round large ones.
  const input = { name: String(fields.get('name')), categoryId: String(fields.get('categoryId')) };
  const { error } = await client.mutation(AddPetDocument, { input });
  if (!error) form.reset();
  await showPets();
  if (error) alert.textContent = describeProblem(error, 'mutation');
});

await showPets();
