import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { startServer } from './server.ts';

/** Starts a server for a fetch handler on a free port. */
export const startFetchServer = (handle: (request: Request) => Response | Promise<Response>) =>
  startServer(createServer(getRequestListener(handle)));
