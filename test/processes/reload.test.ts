import { hash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../support/authority.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { createFolder } from '../support/folder.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { nodeStart } from '../support/process.ts';
import { openTerminal } from '../support/terminal.ts';

const folder = createFolder();
const authority = disposeAfterAll(createAuthority());

type Started = Awaited<ReturnType<typeof nodeStart>>;

let files = 0;
/** Creates a file; the returned function replaces its text. */
function createFile(text: string) {
  const path = join(folder, String(++files));
  const write = (next: string) => writeFileSync(path, next);
  write(text);
  return { path, write };
}

const start = (env: Record<string, string>) =>
  nodeStart({ DATABASE_URL: `file:${folder}/pets.db`, DEMO: 'on', ADMIN_PORT: '0', ...env });

const reloaded = 'configuration reloaded';
const kept = 'configuration not reloaded: it stays as it was';
const linesOf = ({ output }: Started, msg: string) =>
  output.stderr.split('\n').filter((line) => line.includes(`"msg":"${msg}"`));

/** Sends SIGHUP and waits for a further line with this message, or one of each process. @returns the last one. */
async function reload(started: Started, msg = reloaded, lines = 1) {
  const { length } = linesOf(started, msg);
  process.kill(started.pid, 'SIGHUP');
  await vi.waitFor(() => expect(linesOf(started, msg)).toHaveLength(length + lines));
  return JSON.parse(linesOf(started, msg).at(-1) ?? '');
}

async function metricOf({ output }: Started, name: string): Promise<number> {
  const admin = /Metrics +(\S+)/.exec(output.stdout)?.[1] ?? '';
  const text = await (await fetch(admin)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}
/** Waits until the metric shows whether the last reload succeeded: scrapes within a second are one. */
const succeeds = (started: Started, expected: 0 | 1) =>
  vi.waitFor(async () =>
    expect(await metricOf(started, 'petstore_config_reload_success')).toBe(expected),
  );

/** Sends a document by its hash over a new connection. @returns the code of its error, if any. */
async function sendHash({ url }: Started, document: string): Promise<string | undefined> {
  const parameters = { documentId: hash('sha256', document) };
  const headers = { ...withKey, connection: 'close' };
  const response = await fetch(graphqlRequest(url, parameters, headers));
  return (await response.json()).errors?.[0].extensions.code;
}
const manifestOf = (...documents: readonly string[]) =>
  JSON.stringify(Object.fromEntries(documents.map((one) => [hash('sha256', one), one])));
const [pets, name] = ['{ pets { id } }', '{ __typename }'];

describe('a gateway that receives SIGHUP', () => {
  it.each(['1', '2'])('uses another manifest and level in all of %s processes', async (WORKERS) => {
    const workers = Number(WORKERS);
    /** The primary and its workers. */
    const all = workers === 1 ? 1 : workers + 1;
    const manifest = createFile(manifestOf(pets));
    const config = createFile('LOG_LEVEL=warn\n');
    await using started = await start({
      WORKERS,
      CONFIG_FILE: config.path,
      PERSISTED_DOCUMENTS: 'only',
      PERSISTED_DOCUMENTS_FILE: manifest.path,
    });
    /** The codes of forty requests, so that every process has received some. */
    const codesOf = async (document: string) =>
      new Set(await Promise.all(Array.from({ length: 40 }, () => sendHash(started, document))));
    expect(await codesOf(name)).toEqual(new Set(['PERSISTED_DOCUMENT_REQUIRED']));
    expect(linesOf(started, 'request')).toEqual([]);
    manifest.write(manifestOf(name));
    config.write('# Quieter again tomorrow.\nexport LOG_LEVEL="info"\n');
    await reload(started, reloaded, all);
    expect(await codesOf(name)).toEqual(new Set([undefined]));
    expect(await codesOf(pets)).toEqual(new Set(['PERSISTED_DOCUMENT_REQUIRED']));
    await vi.waitFor(() => expect(linesOf(started, 'request')).toHaveLength(80));

    manifest.write('{}');
    config.write('LOG_LEVEL=silent\n');
    const { level, err } = await reload(started, kept, workers);
    expect([level, err.message]).toEqual([
      'error',
      expect.stringContaining(`PERSISTED_DOCUMENTS_FILE: expected a manifest`),
    ]);
    await succeeds(started, 0);
    expect(await codesOf(name)).toEqual(new Set([undefined]));
    expect(linesOf(started, kept)).toHaveLength(workers);
    manifest.write(manifestOf(name));
    config.write('');
    await reload(started, reloaded, all);
    await succeeds(started, 1);
    // With several processes, the primary refuses it and the workers never read it.
    manifest.write(manifestOf(name, pets));
    config.write('LOG_LEVEL=loud\n');
    expect((await reload(started, kept)).err.message).toContain('LOG_LEVEL: expected trace');
    await succeeds(started, 0);
    expect(await codesOf(pets)).toEqual(new Set(['PERSISTED_DOCUMENT_REQUIRED']));
    config.write('');
    await reload(started, reloaded, all);
    await succeeds(started, 1);
    expect(await codesOf(pets)).toEqual(new Set([undefined]));
  });

  it('uses another rate per key in two processes', async () => {
    const config = createFile('RATE_LIMIT_PER_KEY=1\n');
    await using started = await start({ WORKERS: '2', CONFIG_FILE: config.path });
    /** The statuses of forty requests, with the rates of the processes that responded. */
    const answers = async () => {
      const headers = { authorization: 'Bearer demo-key', connection: 'close' };
      const send = async () => {
        const response = await fetch(`${started.url}/v1/pets`, { headers });
        await response.body?.cancel();
        return `${response.status} ${response.headers.get('ratelimit-policy')?.replace(/^.*;q/, 'q')}`;
      };
      return new Set(await Promise.all(Array.from({ length: 40 }, send)));
    };
    expect(await answers()).toContain('429 q=1;w=1');
    config.write('RATE_LIMIT_PER_KEY=1000\n');
    expect(await reload(started, reloaded, 3)).not.toHaveProperty('needRestart');
    expect(await answers()).toEqual(new Set(['200 q=1000;w=1']));
    config.write('');
    expect(await reload(started, reloaded, 3)).toMatchObject({
      needRestart: ['RATE_LIMIT_PER_KEY'],
    });
    expect(await answers()).toEqual(new Set(['200 q=1000;w=1']));
  });

  it('uses another certificate, and keeps it if the next one is invalid', async () => {
    const [first, second] = [1, 2].map(() => authority.issue('IP:127.0.0.1'));
    const [cert, key] = [createFile(first?.cert ?? ''), createFile(first?.key ?? '')];
    await using started = await start({ TLS_CERT_FILE: cert.path, TLS_KEY_FILE: key.path });
    const { hostname: host, port } = new URL(started.url);
    const serial = async () => {
      const socket = connect({ host, port: Number(port), ca: authority.ca });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const before = await serial();
    cert.write(second?.cert ?? '');
    expect((await reload(started, kept)).err.message).toContain('TLS_KEY_FILE: expected the key');
    expect(await serial()).toBe(before);
    key.write(second?.key ?? '');
    await reload(started);
    expect(await serial()).not.toBe(before);
  });

  it('names what has changed and needs a restart, without its value', async () => {
    const config = createFile('SHUTDOWN_GRACE_MS=5000\nLOG_LEVEL=info\n');
    const database = createFile(`file:${folder}/first.db`);
    await using started = await start({
      CONFIG_FILE: config.path,
      DEMO: '',
      DATABASE_URL: '',
      DATABASE_URL_FILE: database.path,
      PORT: '0',
    });
    // The environment precedes, so PORT has not changed.
    config.write('SHUTDOWN_GRACE_MS=6000\nLOG_LEVEL=debug\nPORT=1\nDEMO=off\n');
    database.write('postgres://ann:hunter2@db.example/pets');
    const { level, needRestart } = await reload(started);
    expect(level).toBe('warn');
    expect(needRestart.toSorted()).toEqual(['DATABASE_URL', 'DEMO', 'SHUTDOWN_GRACE_MS']);
    expect(started.output.stderr).not.toContain('hunter2');
    expect(await sendHash(started, pets)).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
  });

  it('fails no request under load', async () => {
    const manifest = createFile(manifestOf(pets));
    await using started = await start({
      WORKERS: '2',
      PERSISTED_DOCUMENTS: 'only',
      PERSISTED_DOCUMENTS_FILE: manifest.path,
    });
    let isOver = false;
    let sent = 0;
    const load = Array.from({ length: 16 }, async () => {
      for (; !isOver; sent++) expect(await sendHash(started, pets)).toBeUndefined();
    });
    for (let round = 0; round < 10; round++) {
      manifest.write(round % 2 === 0 ? 'not a manifest' : manifestOf(pets, name));
      await (round % 2 === 0 ? reload(started, kept, 2) : reload(started, reloaded, 3));
      const target = sent + 20;
      await vi.waitFor(() => expect(sent).toBeGreaterThan(target));
    }
    isOver = true;
    await Promise.all(load);
  });

  it('ends if it is because its terminal was closed', async () => {
    using terminal = await openTerminal('', { DATABASE_URL: ':memory:' });
    const [, address] = await terminal.show(/GraphQL +(http:\/\/[\d.:]+)/);
    const url = `${address}/livez`;
    expect((await fetch(url)).status).toBe(200);
    terminal.close();
    await vi.waitFor(() => expect(fetch(url)).rejects.toThrow());
  });
});
