import { createServer } from 'node:http';
import type { Gateway } from '../../src/index.ts';
import { startServer } from './server.ts';

const path = '/api/graphql';

/**
 * Starts a server with its own route `/hello` and the gateway at `/api/graphql`, a path that it removes
 * from the URL of a request if it `strips`, as Express does.
 */
export function mountInNode({ nodeListener }: Gateway, strips = false) {
  return startServer(
    createServer((incoming, outgoing) => {
      const { url = '' } = incoming;
      if (!url.startsWith(path)) return outgoing.end('hello');
      if (strips) Object.assign(incoming, { originalUrl: url, url: `/${url.slice(path.length)}` });
      return nodeListener(incoming, outgoing);
    }),
  );
}
