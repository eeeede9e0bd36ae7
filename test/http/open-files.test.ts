import { expect, it, vi } from 'vitest';
import { commandPath, shellStart } from '../support/process.ts';
import { connectTo, lastProbe, sendRaw, statusesOf } from '../support/raw-http.ts';

/** Starts a gateway that may have this many open files. */
async function startWith(openFiles: number) {
  const script = `ulimit -n ${openFiles}; exec ${process.execPath} ${await commandPath()}`;
  return shellStart(process.cwd(), script, { DATABASE_URL: ':memory:', ADMIN_PORT: '0' });
}

it.each([
  [300, 150],
  [1024, 624],
])('with %i open files, a gateway serves new clients beside silent ones, and warns', async (openFiles, maxConnections) => {
  await using gateway = await startWith(openFiles);
  const { output } = gateway;
  const warning = `"openFiles":${openFiles},"maxConnections":${maxConnections},`;
  await vi.waitFor(() => expect(output.stderr).toContain(warning));
  using sockets = new DisposableStack();
  for (let index = 0; index < openFiles + 200; index++) {
    const socket = connectTo(gateway.url).resume();
    sockets.defer(() => socket.destroy());
  }
  const admin = /Metrics +(http:\S+)\/metrics/.exec(output.stdout)?.[1] ?? '';
  const probe = async (url: string) => statusesOf(await sendRaw(url, lastProbe).catch(() => ''));
  expect(await probe(admin)).toEqual([200]);
  // Until the silent connections have been silent for a second.
  await vi.waitFor(async () => expect(await probe(gateway.url)).toEqual([200]));
  for (let index = 0; index < 60; index++) expect(await probe(gateway.url)).toEqual([200]);
  expect(await probe(admin)).toEqual([200]);
});

it('with enough open files, a gateway does not warn', async () => {
  await using gateway = await startWith(6000);
  expect(gateway.output.stderr).not.toContain('open files');
});
