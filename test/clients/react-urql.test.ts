import { createElement, Suspense } from 'react';
import { renderToReadableStream } from 'react-dom/server';
import { Client, cacheExchange, fetchExchange, Provider, useQuery } from 'urql';
import { expect, it } from 'vitest';
import {
  createRetryFetch,
  isGatewayError,
  StorefrontDocument,
} from '../../packages/client/src/index.ts';
import { apiKey, startGateway } from '../support/gateway.ts';

/** Shows the names of pets, and how many fields have failed so. */
function Storefront() {
  const [{ data, error }] = useQuery({ query: StorefrontDocument, variables: { limit: 2 } });
  const names = data?.available?.map(({ name }) => name).join();
  const late = error?.graphQLErrors.filter((one) => isGatewayError(one, 'UPSTREAM_TIMEOUT'));
  return createElement(
    'p',
    null,
    `${names}; orders: ${typeof data?.orders}; late: ${late?.length}`,
  );
}

it.each([
  [apiKey, 'Biscuit,Marmalade; orders: object; late: undefined'],
  ['demo-slow-orders', 'Biscuit,Marmalade; orders: object; late: 1'],
])("urql's hooks of React have the typed data of a document, with %s", async (key, text) => {
  await using gateway = await startGateway();
  const client = new Client({
    url: `${gateway.url}/graphql`,
    fetchOptions: { headers: { authorization: `Bearer ${key}` } },
    fetch: createRetryFetch({ timeoutMs: 1000 }),
    exchanges: [cacheExchange, fetchExchange],
    suspense: true,
  });
  const tree = createElement(
    Provider,
    { value: client },
    createElement(Suspense, { fallback: null }, createElement(Storefront)),
  );
  const stream = await renderToReadableStream(tree);
  await stream.allReady;
  expect(await new Response(stream).text()).toContain(`<p>${text}</p>`);
});
