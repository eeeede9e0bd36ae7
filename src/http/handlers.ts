import type { IncomingMessage, ServerResponse } from 'node:http';

// Apart from the code that creates them: the types of the package must not need those of its metrics.

/** A handler of WHATWG Fetch requests, as in Hono, Next and Deno. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A request listener for `node:http` servers. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
