import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { startContainer } from './container.ts';

type Start = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) => ReturnType<typeof startContainer>;

/** Runs the commands of the image like an operator. @throws on the first failure. */
export async function check(start: Start): Promise<void> {
  const onVolume = { DATABASE_URL: 'file:/data/pet-store.db' };
  const local = { PORT: '0', HOST: '127.0.0.1' };
  const finish = async (args: readonly string[], env: Parameters<Start>[1] = onVolume) => {
    const container = start(args, env);
    assert.equal(await container.exited, 0, container.output.stderr);
    return container.output.stdout;
  };
  await finish(['keys', 'create-account', 'acme']);
  const { key } = JSON.parse(await finish(['keys', 'create', 'acme', '--json']));

  const gateway = start([], { ...local, ...onVolume });
  const url = await urlOf(gateway);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const query =
    'mutation { addPet(input: { name: "Rex", categoryId: 9223372036854775807 }) { categoryId } }';
  const sent = { method: 'POST', headers, body: JSON.stringify({ query }) };
  const { data } = await (await fetch(`${url}/graphql`, sent)).json();
  assert.deepEqual(data, { addPet: { categoryId: '9223372036854775807' } });
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.equal((await fetch(`${url}/v1/docs/swagger-ui-bundle.js`)).status, 200);
  const args = ['check-service', '--base-url', `${url}/v1`];
  const verdict = await finish(args, { PETSTORE_API_KEY: key });
  assert.match(verdict, /^\d+ passed, 0 failed/m);

  gateway.kill('SIGTERM');
  assert.equal(await gateway.exited, 0, gateway.output.stderr);
  assert.match(gateway.output.stderr, /"msg":"shut down"/);

  const demo = start([], { ...local, DEMO: 'on' });
  const demoUrl = await urlOf(demo);
  const pets = await fetch(`${demoUrl}/v1/pets`, { headers: { authorization: 'Bearer demo-key' } });
  assert.equal(pets.status, 200);
  demo.kill('SIGTERM');
  assert.equal(await demo.exited, 0, demo.output.stderr);
}

async function urlOf({ output, exited }: ReturnType<Start>): Promise<string> {
  let hasExited = false;
  exited.then(() => {
    hasExited = true;
  });
  for (; !hasExited; await wait(20)) {
    const [, url] = /GraphQL +(http:\S+)\/graphql/.exec(output.stdout) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The container exited: ${output.stderr}`);
}
