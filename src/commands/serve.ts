import { setTimeout as wait } from 'node:timers/promises';
import type { BackendOptions } from '../backends/open.ts';
import { openPetStore } from '../backends/open.ts';
import { createGateway, type GatewayOptions } from '../server/gateway.ts';
import { type ListenOptions, listen } from '../server/listen.ts';
import type { Log } from '../telemetry/log.ts';

/** What the gateway serves and where. */
export interface ServeOptions extends ListenOptions {
  readonly backend: BackendOptions;
  readonly graphiql: boolean;
  readonly introspection: boolean;
  readonly corsOrigins: readonly string[];
  readonly operationLimits: GatewayOptions['operationLimits'];
  /** How long requests in flight may finish after `stop`, in milliseconds. */
  readonly shutdownGraceMs: number;
}

/** A running gateway. */
export interface Service {
  /** The base address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** What a person at a terminal wants to see first. */
  readonly banner: string;
  /** Stops accepting, finishes what is in flight, then closes the backend. */
  stop(): Promise<void>;
}

/** Opens the backend and serves it. @throws when the backend or the address can't be had. */
export async function serve(options: ServeOptions, log: Log): Promise<Service> {
  const { backend } = options;
  const petStore = await openPetStore(backend, log);
  let ready = true;
  try {
    const gateway = createGateway({
      ...options,
      petStore,
      log,
      v1: backend.kind === 'builtin',
      demoKey: backend.kind === 'builtin' ? backend.demoKey : undefined,
      isReady: () => ready,
    });
    const listener = await listen(gateway, options, log);
    return {
      url: listener.url,
      banner: banner(listener.url, options),
      async stop() {
        ready = false;
        const grace = wait(options.shutdownGraceMs, undefined, { ref: false });
        await listener.close(options.shutdownGraceMs);
        // Writes whose clients are gone run to their end, but not beyond the grace.
        await Promise.race([petStore[Symbol.asyncDispose](), grace]);
      },
    };
  } catch (error) {
    await petStore[Symbol.asyncDispose]();
    throw error;
  }
}

function banner(url: string, { backend, graphiql }: ServeOptions): string {
  const builtin = backend.kind === 'builtin' ? backend : undefined;
  const lines = [
    ['Backend', describe(backend)],
    ['GraphQL', `${url}/graphql${graphiql ? ' (GraphiQL in a browser)' : ''}`],
    ...(builtin ? [['REST', `${url}/v1`]] : []),
    ...(builtin?.demoKey
      ? [['API key', `${builtin.demoKey} (this is a demo; production has none)`]]
      : []),
    ...(builtin && !builtin.demoKey ? [['API keys', 'npm run keys -- --help']] : []),
  ];
  return ['Pet Store gateway', ...lines.map(([name = '', text]) => `  ${name.padEnd(9)}${text}`)]
    .join('\n')
    .concat('\n');
}

function describe(backend: BackendOptions): string {
  return backend.kind === 'rest'
    ? `REST service at ${backend.baseUrl.href}`
    : `built-in, ${withoutPassword(backend.databaseUrl)}${backend.demoKey ? ', with demo data' : ''}`;
}

function withoutPassword(databaseUrl: string): string {
  return databaseUrl.replace(/\/\/.*@/, '//');
}
