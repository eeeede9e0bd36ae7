import { Agent, request } from 'undici';
import { describe, expect, vi } from 'vitest';
import { openDatabase } from '../support/database.ts';
import { quiet } from '../support/log.ts';
import { hasNginx, nginxTest, startNginx } from '../support/nginx.ts';
import { startPostgres } from '../support/postgres.ts';
import { nodeStart } from '../support/process.ts';

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
const clients = 16;

if (!hasNginx) process.stdout.write('Topology tests are SKIPPED: install nginx (nginx-light).\n');

describe('three gateways behind nginx', () => {
  nginxTest(
    'lose only the requests in flight on a killed gateway, and none on a drained one',
    async () => {
      await using postgres = await startPostgres();
      const databaseUrl = await postgres.createDatabase();
      const env = { DATABASE_URL: databaseUrl, DEMO: 'on', MAX_EVENT_LOOP_LAG_MS: '60000' };
      await using killed = await nodeStart(env);
      await using drained = await nodeStart(env);
      await using remaining = await nodeStart(env);
      await using nginx = await startNginx([killed.url, drained.url, remaining.url]);
      await using load = startLoad(nginx.socketPath);

      await load.acknowledges(200);
      killed.kill('SIGKILL');
      await killed.exited;
      const killedAt = performance.now();
      await load.acknowledges(200);
      // Like an operator or Kubernetes: remove the gateway from the balancer, then stop it. The
      // system resets a connection that is opened at the moment when a listener closes.
      await nginx.balance([killed.url, remaining.url]);
      await load.acknowledges(200);
      drained.kill('SIGTERM');
      expect(await drained.exited).toBe(0);
      await load.acknowledges(200);
      await load.stop();

      const requests = await nginx.finish();
      const { host: killedHost } = new URL(killed.url);
      const { host: drainedHost } = new URL(drained.url);
      expect(load.failed.filter(({ startedAt }) => startedAt > killedAt)).toEqual([]);
      // A client may send a second request before the killed process has closed its sockets.
      expect(load.failed.length).toBeLessThanOrEqual(2 * clients);
      for (const { requestId, response } of load.failed) {
        expect(requests.find((one) => one.requestId === requestId)).toEqual({
          requestId,
          status: 502,
          gateways: [killedHost],
        });
        expect(response).toMatchObject({
          errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE', requestId } }],
        });
      }
      // nginx retried refused connections on another gateway. The drained gateway served requests.
      expect(requests.some(({ gateways }) => gateways.length > 1)).toBe(true);
      expect(requests.some(({ gateways }) => gateways.at(-1) === drainedHost)).toBe(true);

      const database = await openDatabase(databaseUrl, quiet.log);
      const rows = await database.selectFrom('pets').select(['id', 'name']).execute();
      await database.destroy();
      const stored = new Map(rows.map(({ id, name }) => [String(id), name]));
      for (const [id, name] of load.acknowledged) expect([id, stored.get(id)]).toEqual([id, name]);
      expect(new Set(stored.values()).size).toBe(rows.length);
    },
    300_000,
  );
});

/** Starts clients that add and list pets until they are stopped, each sequentially. */
function startLoad(socketPath: string) {
  // One connection per request: nginx can close a kept-alive connection just as it is reused.
  const dispatcher = new Agent({ connect: { socketPath }, connections: clients, pipelining: 0 });
  /** Names of acknowledged pets by id. */
  const acknowledged = new Map<string, string>();
  const failed: { requestId: string; startedAt: number; response: unknown }[] = [];
  let stopped = false;

  async function client(id: number): Promise<void> {
    for (let index = 0; !stopped; index++) {
      const requestId = `client-${id}-${index}`;
      const startedAt = performance.now();
      const { statusCode, body } = await request('http://localhost/graphql', {
        dispatcher,
        method: 'POST',
        headers: { ...headers, 'x-request-id': requestId },
        body: JSON.stringify({
          query:
            index % 2 === 0
              ? `mutation { addPet(input: { name: "${requestId}", categoryId: 1 }) { id } }`
              : '{ pets(limit: 1) { id } }',
        }),
      });
      const response = (await body.json()) as {
        readonly data?: { readonly addPet?: { readonly id: string } };
        readonly errors?: unknown;
      };
      if (statusCode !== 200 || response.errors) failed.push({ requestId, startedAt, response });
      else if (response.data?.addPet) acknowledged.set(response.data.addPet.id, requestId);
    }
  }

  const running = Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  // `stop` reports a rejection.
  running.catch(() => {});
  const stop = async () => {
    stopped = true;
    await running;
  };
  return {
    acknowledged,
    failed,
    stop,
    /** Resolves when this many more pets have been acknowledged. */
    acknowledges(count: number): Promise<void> {
      const goal = acknowledged.size + count;
      return vi.waitFor(() => expect(acknowledged.size).toBeGreaterThanOrEqual(goal), {
        timeout: 100_000,
      });
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await dispatcher.close();
    },
  };
}
