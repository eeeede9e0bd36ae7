import type { Plugin } from 'graphql-yoga';

/** Lets a browser keep the answer to a `GET`, and no cache that serves several people or keys. */
export function usePrivateCaching(): Plugin {
  return {
    onResponse({ request, response: { headers } }) {
      if (request.method !== 'GET') return;
      headers.set('cache-control', 'private');
      headers.append('vary', 'Authorization, Accept');
    },
  };
}
