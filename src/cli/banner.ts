import type { Config } from '../config/config.ts';
import { isLoopback, isSocket } from '../config/kinds.ts';
import type { Supervisor } from '../workers/primary.ts';
import { commandLine } from './command-line.ts';

/** Formats the startup message: the backend, why it is not reachable, the URLs and the API key. */
export async function banner(
  { url, adminUrl, checkReady }: Pick<Supervisor, 'url' | 'adminUrl' | 'checkReady'>,
  { host, backend, graphiql, persistedDocuments, workers }: Config,
): Promise<string> {
  // A browser cannot open a Unix domain socket.
  const inBrowser = graphiql && persistedDocuments.mode !== 'only' && !isSocket(host);
  const builtin = backend.kind === 'builtin' ? backend : undefined;
  const lines: [string, string][] = [
    ['Backend', describe(backend) + (builtin ? '' : await checkReady().then(() => '', problem))],
    ['GraphQL', `${url}/graphql${inBrowser ? ' (GraphiQL in a browser)' : ''}`],
  ];
  if (workers > 1) lines.push(['Workers', `${workers} processes`]);
  if (builtin) lines.push(['REST', `${url}/v1 (reference at ${url}/v1/docs)`]);
  if (adminUrl) lines.push(['Metrics', `${adminUrl}/metrics`]);
  if (builtin?.demoKey && !isLoopback(host)) {
    lines.push(['WARNING', `DEMO=on: anyone on the network can write with ${builtin.demoKey}`]);
  } else if (builtin?.demoKey) {
    lines.push(['API key', `${builtin.demoKey} (demo only)`]);
  } else if (builtin) {
    lines.push(['API keys', commandLine('keys --help')]);
  }
  const text = lines.map(([name, value]) => `  ${name.padEnd(9)}${value}\n`).join('');
  return `Pet Store gateway\n${text}`;
}

function problem(error: Error): string {
  let deepest = error;
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  const { code } = deepest as NodeJS.ErrnoException;
  return ` (not reachable${code === undefined ? '' : `: ${code}`})`;
}

function describe(backend: Config['backend']): string {
  if (backend.kind === 'rest') return `REST service at ${backend.baseUrl.href}`;
  return `built-in, ${backend.databaseUrl.replace(/\/\/.*@/s, '//')}`;
}
