import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { Client, fetchExchange } from '@urql/core';
import { openBrowser } from '../test/support/browser.ts';
import { nodeStart } from '../test/support/process.ts';
import { sendJson, startUpstream } from '../test/support/upstream.ts';
import { median } from './figures.ts';

/** The latency of the REST service for pets and for orders, in milliseconds. */
const latency = { pets: 200, orders: 2200 };
const rounds = 7;

const documents = {
  alone: 'query Alone { pets(limit: 20) { id name status } }',
  deferred: 'query Deferred { pets(limit: 20) { id name status } ... @defer { orders } }',
};
type Name = keyof typeof documents;

/** Resolves when a client has received the pets, and cancels the rest of the response. */
type ShowPets = (name: Name) => Promise<void>;

const pets = JSON.stringify(
  Array.from({ length: 20 }, (_, id) => ({ id, name: `Pet ${id}`, categoryId: 1 })),
);
await using upstream = await startUpstream(async ({ url }, response) => {
  const isOrders = url.includes('orders');
  await wait(isOrders ? latency.orders : latency.pets);
  sendJson(response, 200, isOrders ? '[1]' : pets);
});
await using gateway = await nodeStart({
  PETSTORE_BASE_URL: `${upstream.url}/v1`,
  LOG_LEVEL: 'warn',
  MAX_EVENT_LOOP_LAG_MS: '60000',
});
const url = `${gateway.url}/graphql`;
const headers = { authorization: 'Bearer demo-key' };

const apollo: ShowPets = (name) => {
  const client = new ApolloClient({
    link: new HttpLink({ uri: url, headers }),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
  return new Promise((resolve) => {
    const query = client.watchQuery<{ pets?: unknown[] }>({ query: gql(documents[name]) });
    const subscription = query.subscribe(({ data }) => {
      if (data?.pets === undefined) return;
      subscription.unsubscribe();
      resolve();
    });
  });
};

const urql: ShowPets = (name) => {
  const client = new Client({ url, fetchOptions: { headers }, exchanges: [fetchExchange] });
  return new Promise((resolve) => {
    const { unsubscribe } = client.query(documents[name], {}).subscribe(({ data }) => {
      if (data?.pets === undefined) return;
      queueMicrotask(() => unsubscribe());
      resolve();
    });
  });
};

const curl: ShowPets = async (name) => {
  const args = ['-sN', url, '-H', `Authorization: ${headers.authorization}`];
  args.push('-H', 'Content-Type: application/json', '-H', 'Accept: multipart/mixed');
  args.push('-d', JSON.stringify({ query: documents[name] }));
  const child = spawn('curl', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('"Pet 19"')) break;
  }
  child.kill();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

await using browser = await openBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
await page.route(url, async (route) => {
  await route.continue({ headers: { ...route.request().headers(), ...headers } });
});
await page.goto(url);

/** The tabs of GraphiQL: both select pets, and the second also orders. */
const tabs: Record<Name, string> = { alone: 'ListPets', deferred: 'DeferredStorefront' };
const graphiql: ShowPets = async () => {
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.locator('.result-window').getByText('"Pet 0"').waitFor();
};

/** Opens a tab of a reloaded page, whose result is empty. */
async function openTab(name: Name): Promise<void> {
  await page.reload();
  await page.getByRole('button', { name: tabs[name], exact: true }).press('Enter');
  await page.waitForFunction((tab) => localStorage['graphiql:query']?.includes(tab), tabs[name]);
}

const clients: readonly (readonly [string, ShowPets])[] = [
  ['Apollo Client', apollo],
  ['urql', urql],
  ['curl -N', curl],
  ['GraphiQL', graphiql],
];
process.stdout.write(
  `Time until the pets arrive, in milliseconds: median of ${rounds}. Pets take ${latency.pets} ms, orders ${latency.orders} ms.\n| client | alone | with deferred orders | ratio |\n|---|---|---|---|\n`,
);
for (const [client, show] of clients) {
  const times: Record<Name, number[]> = { alone: [], deferred: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const name of ['alone', 'deferred'] as const) {
      if (show === graphiql) await openTab(name);
      const start = performance.now();
      await show(name);
      // The first round warms up.
      if (round > 0) times[name].push(performance.now() - start);
    }
  }
  const [alone, deferred] = [median(times.alone), median(times.deferred)];
  const ratio = (deferred / alone).toFixed(2);
  process.stdout.write(`| ${client} | ${alone.toFixed(0)} | ${deferred.toFixed(0)} | ${ratio} |\n`);
}
