import { print } from 'graphql';
import { StorefrontDocument } from 'petstore-gateway-client';
import { screenOf } from './screen.ts';

const [, , key] = process.argv;
const response = await fetch('http://127.0.0.1:4000/graphql', {
  method: 'POST',
  headers: {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'x-petstore-timeout-ms': '3000',
  },
  body: JSON.stringify({ query: print(StorefrontDocument), variables: { limit: 100 } }),
})
  // Every response of the gateway is JSON, but not a proxy's.
  .then((response) => response.json())
  .catch(() => undefined);
const errors = response && (response.errors ?? []);
console.log(screenOf('query', response?.data, errors));
