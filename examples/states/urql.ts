import { Client, fetchExchange } from '@urql/core';
import { StorefrontDocument } from 'petstore-gateway-client';
import { screenOf } from './screen.ts';

const [, , key] = process.argv;
const client = new Client({
  url: 'http://127.0.0.1:4000/graphql',
  fetchOptions: { headers: { authorization: `Bearer ${key}` } },
  exchanges: [fetchExchange],
});
const { data, error } = await client.query(StorefrontDocument, { limit: 100 });
const errors = error?.networkError ? undefined : (error?.graphQLErrors ?? []);
console.log(screenOf('query', data, errors));
