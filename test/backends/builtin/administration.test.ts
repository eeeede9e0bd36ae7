import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { openAdministration, openPetStore } from '../../../src/backends/open.ts';
import { importFrom } from '../../../src/commands/transfer.ts';
import { petFields } from '../../../src/contract/records.ts';
import { describeOnEveryDatabase } from '../../support/databases.ts';
import { callWith, openBuiltin, startGateway } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';

async function* lines(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}
const ignore = () => {};

/** Opens the built-in backend without the demo key. */
const openStore = (databaseUrl: string) =>
  openPetStore({ kind: 'builtin', databaseUrl, demoKey: undefined }, quiet);

describeOnEveryDatabase('accounts and API keys', (createDatabase) => {
  it('are created, listed, accepted and revoked while a server is running', async () => {
    const databaseUrl = await createDatabase();
    await using store = await openStore(databaseUrl);
    await using administration = await openAdministration(databaseUrl, quiet.log);
    const { keys } = administration;
    await keys.createAccount('acme');
    const { key, ...created } = await keys.create('acme');
    expect(key).toMatch(/^pet_[A-Za-z0-9_-]{43}$/);
    expect(await keys.list('acme')).toEqual([created]);
    expect([...(await store.listPets(callWith(key), {}))]).toEqual([]);

    await keys.revoke(created.id);
    await vi.waitFor(
      () => expect(store.listPets(callWith(key), {})).rejects.toMatchObject({ status: 401 }),
      { timeout: 5000, interval: 50 },
    );
    const [revoked] = await keys.list('acme');
    expect(revoked?.revokedAt).toMatch(/^\d{4}-.*Z$/);
    expect((await keys.revoke(created.id)).revokedAt).toBe(revoked?.revokedAt);
  });

  it('reject invalid names and unknown accounts and keys', async () => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    const { keys } = administration;
    await keys.createAccount('acme');
    await expect(keys.createAccount('acme')).rejects.toThrow('with the name "acme" already exists');
    for (const name of ['', 'a b', 'a\u001b[31mb', 'x'.repeat(65)]) {
      await expect(keys.createAccount(name)).rejects.toThrow('expected 1 to 64 characters');
    }
    await expect(keys.create('nobody')).rejects.toThrow('no account with the name "nobody"');
    await expect(keys.list('nobody')).rejects.toThrow('no account with the name "nobody"');
    await expect(keys.revoke('nothing')).rejects.toThrow('no API key with the id "nothing"');
    expect(await keys.listAccounts()).toEqual([{ name: 'acme', createdAt: expect.any(String) }]);
  });

  it('never expose the key after it was created', async () => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    await administration.keys.createAccount('acme');
    const { key } = await administration.keys.create('acme');
    const listed = JSON.stringify(await administration.keys.list('acme'));
    expect(listed).not.toContain(key.slice(4));
  });

  it('are unique', async () => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    await administration.keys.createAccount('acme');
    const created = await Promise.all(
      Array.from({ length: 20 }, () => administration.keys.create('acme')),
    );
    expect(new Set(created.map(({ key }) => key)).size).toBe(20);
    expect(new Set(created.map(({ id }) => id)).size).toBe(20);
  });
});

describeOnEveryDatabase('import and export', (createDatabase) => {
  const pets = [
    '{"id":-9223372036854775808,"name":"first","categoryId":9223372036854775807}',
    '{"id":7,"name":"größer \u2028 🐕","categoryId":-9223372036854775808,"status":"sold"}',
    '{"id":4611686018427387904,"name":"last","categoryId":9007199254740993,"status":"pending"}',
  ];

  it('copy every record with exact digits from one database to another', async () => {
    await using from = await openAdministration(await createDatabase(), quiet.log);
    expect(
      await from.importLines('pets', lines(pets[2] ?? '', '', ...pets.slice(0, 2)), ignore),
    ).toBe(3);
    const exported = await Array.fromAsync(from.exportLines('pets'));
    expect(exported).toEqual(pets.map((line) => `${line}\n`));
    await using to = await openAdministration(await createDatabase(), quiet.log);
    await to.importLines('pets', lines(...exported), ignore);
    expect(await Array.fromAsync(to.exportLines('pets'))).toEqual(exported);
  });

  it('assign ids above the imported ones to records without an id', async () => {
    const databaseUrl = await createDatabase();
    await using administration = await openAdministration(databaseUrl, quiet.log);
    await administration.importLines('pets', lines('{"id":500,"name":"a","categoryId":1}'), ignore);
    await administration.importLines('pets', lines('{"name":"b","categoryId":1}'), ignore);
    await using store = await openBuiltin(databaseUrl);
    const { id } = await store.createPet(callWith(), { name: 'c', categoryId: '1' });
    const ids = Array.from(await store.listPets(callWith(), {}), (pet) => BigInt(pet.id));
    expect(ids).toHaveLength(3);
    expect(ids.slice(1).every((one) => one > 500n)).toBe(true);
    expect(ids).toContain(BigInt(id));
  });

  it('do not conflict with ids that running servers have reserved', async () => {
    const databaseUrl = await createDatabase();
    await using store = await openBuiltin(databaseUrl);
    await using administration = await openAdministration(databaseUrl, quiet.log);
    const line = (id: number) => `{"id":${id},"name":"imported","categoryId":1}`;
    const add = () => store.createPet(callWith(), { name: 'added', categoryId: '1' });
    const added = [await add()];
    // Some of these ids are in blocks that the store's sessions have reserved.
    const taken = Array.from({ length: 100 }, (_, index) => line(200 + index));
    await administration.importLines('pets', lines(...taken), ignore);
    await administration.importLines('pets', lines('{"name":"b","categoryId":1}'), ignore);
    const calls = await Promise.all(Array.from({ length: 200 }, add));
    expect(new Set([...added, ...calls].map(({ id }) => id)).size).toBe(201);
  });

  it('preserve the text of orders', async () => {
    const databaseUrl = await createDatabase();
    await using administration = await openAdministration(databaseUrl, quiet.log);
    const orders = ['{"b": 1.50, "a": 12345678901234567890}', '[1]', '"text"', 'null'];
    expect(await administration.importLines('orders', lines(...orders), ignore)).toBe(4);
    expect(await Array.fromAsync(administration.exportLines('orders'))).toEqual(
      orders.map((order) => `${order}\n`),
    );
    await using store = await openStore(databaseUrl);
    await administration.keys.createAccount('acme');
    const { key } = await administration.keys.create('acme');
    expect((await store.listOrders(callWith(key))).text).toBe(`[${orders.join()}]`);
  });

  it('limit the list of orders to what another gateway accepts', async () => {
    const databaseUrl = await createDatabase();
    await using administration = await openAdministration(databaseUrl, quiet.log);
    const order = JSON.stringify(Array(2500).fill(0));
    await administration.importLines('orders', lines(...Array(150).fill(order)), ignore);
    await using service = await startGateway({ petStore: await openBuiltin(databaseUrl) });
    await using rest = await openPetStore(
      {
        kind: 'rest',
        baseUrl: new URL(`${service.url}/v1`),
        messagesBaseUrl: undefined,
        timeoutMs: 10_000,
      },
      quiet,
    );
    // Each order has 5,001 bytes, and the list is limited to 500,000.
    expect(JSON.parse((await rest.listOrders(callWith())).text)).toHaveLength(99);
  });

  it.each([
    ['{"name":"b"', 'Line 3: expected JSON.'],
    ['{"name":"b"}', 'Line 3: categoryId: expected an int64 number, received nothing.'],
    ['{"name":"b","categoryId":1,"status":"lost"}', 'Line 3: status: expected one of'],
    ['{"name":"b\\u0000","categoryId":1,"id":2}', 'Line 3: name: expected text without NUL'],
    [
      '{"name":"b","categoryId":1,"state":"sold"}',
      `Line 3: expected only the fields ${Object.keys(petFields).join(', ')}, received "state".`,
    ],
    [`{"name":"${'b'.repeat(1001)}","categoryId":1}`, 'Line 3: name: expected at most 1000 char'],
    [`{"name":"b","categoryId":1${' '.repeat(16_384)}}`, 'Line 3: expected at most 16384 bytes.'],
    ['{"name":"b","categoryId":1,"id":"2"}', 'Line 3: id: expected an integer up to 2^62'],
    ['{"name":"b","categoryId":1,"id":4611686018427387905}', 'Line 3: id: expected an integer'],
    ['{"name":"b","categoryId":1,"id":1}', 'Line 3: the id 1 is already taken.'],
    ['{"name":"b","categoryId":1}', 'Line 3: expected an id on every line or on none.'],
  ])('import nothing if a line is invalid: %s', async (line, message) => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    const good = '{"id":1,"name":"a","categoryId":1}';
    await expect(administration.importLines('pets', lines(good, '', line), ignore)).rejects.toThrow(
      message,
    );
    expect(await Array.fromAsync(administration.exportLines('pets'))).toEqual([]);
  });

  it('do not block writers, and show no record before the input is complete', async () => {
    const databaseUrl = await createDatabase();
    await using store = await openBuiltin(databaseUrl);
    await using administration = await openAdministration(databaseUrl, quiet.log);
    const names = async () =>
      Array.from(await store.listPets(callWith(), { limit: 100 }), ({ name }) => name);
    const add = (name: string) => store.createPet(callWith(), { name, categoryId: '1' });
    await add('before');
    async function* slowly() {
      for (let line = 0; line < 3000; line++) {
        if (line % 1000 === 999) {
          await Promise.all(Array.from({ length: 5 }, (_, index) => add(`${line} ${index}`)));
          expect(await names()).not.toContain('imported');
        }
        yield `{"id":${5000 + line},"name":"imported","categoryId":1}`;
      }
    }
    const start = performance.now();
    expect(await administration.importLines('pets', slowly(), ignore)).toBe(3000);
    // Waiting for a lock would take longer.
    expect(performance.now() - start).toBeLessThan(4000);
    await add('after');
    expect(await Array.fromAsync(administration.exportLines('pets'))).toHaveLength(3029);
  });

  it('report the number of a line that is not UTF-8', async () => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    async function* bytes() {
      yield Buffer.from('{"name":"a","categoryId":1}');
      yield Buffer.from('{"name":"\xff","categoryId":1}', 'latin1');
    }
    await expect(administration.importLines('pets', bytes(), ignore)).rejects.toThrow(
      'Line 2: expected UTF-8. Nothing was imported.',
    );
  });

  it('report the number of a line whose id is taken in the database', async () => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    const line = (id: number) => `{"id":${id},"name":"a","categoryId":1}`;
    await administration.importLines('pets', lines(line(5)), ignore);
    const again = administration.importLines('pets', lines(line(4), line(5), line(6)), ignore);
    await expect(again).rejects.toThrow('Line 2: the id 5 is already taken. Nothing was imported.');
    expect(await Array.fromAsync(administration.exportLines('pets'))).toHaveLength(1);
  });

  it('handle more records than fit into one statement or page', async () => {
    await using administration = await openAdministration(await createDatabase(), quiet.log);
    const many = Array.from({ length: 3500 }, (_, i) => `{"id":${i},"name":"p","categoryId":1}`);
    const progress: number[] = [];
    await administration.importLines('pets', lines(...many), (count) => progress.push(count));
    expect(progress).toEqual([1000, 2000, 3000, 3500]);
    const exported = await Array.fromAsync(administration.exportLines('pets'));
    expect(exported.map((line) => line.trim())).toEqual(many);
  });
});

describe('the input of an import', () => {
  it('is refused as soon as a line is too long', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    async function* endless() {
      yield Buffer.from('{"name":"a","categoryId":1}\n');
      for (;;) yield Buffer.alloc(1000, 'x');
    }
    const work = importFrom(administration, 'pets', '-', Readable.from(endless()), ignore);
    await expect(work).rejects.toThrow('Line 2: expected at most 16384 bytes.');
  });

  it('may arrive in chunks of any size', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    const text = '{"name":"ä","categoryId":1}\r\n\n{"name":"b","categoryId":2}';
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    const { json } = await importFrom(administration, 'pets', '-', Readable.from(bytes), ignore);
    expect(json).toEqual({ kind: 'pets', imported: 2 });
  });
});

describeOnEveryDatabase('the commands', (createDatabase) => {
  const run = async (databaseUrl: string, ...args: string[]) => {
    try {
      const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
      const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', ...args], {
        env,
      });
      return { code: 0, stdout, stderr: '' };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  };

  it('create and revoke a key, and print text or JSON', async () => {
    const databaseUrl = await createDatabase();
    await run(databaseUrl, 'keys', 'create-account', 'acme');
    const created = await run(databaseUrl, 'keys', 'create', 'acme', '--json');
    const { id, key } = JSON.parse(created.stdout);
    const list = await run(databaseUrl, 'keys', 'list', 'acme');
    expect(list.stdout).toMatch(/^KEY +CREATED +REVOKED\n[0-9a-f]{12} +\d{4}-\S+Z\n$/);
    expect(list.stdout).not.toContain(key);
    expect((await run(databaseUrl, 'keys', 'revoke', id)).stdout).toContain(
      `Revoked key ${id} of account acme`,
    );
  }, 30_000);

  it('exit with 1 if the command fails, and with 2 if the command line is invalid', async () => {
    const databaseUrl = await createDatabase();
    const failed = await run(databaseUrl, 'keys', 'create', 'nobody');
    expect(failed).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'There is no account with the name "nobody". Create it with: keys create-account nobody\n',
    });
    for (const args of [['keys', 'burn'], ['export', 'cats'], ['import', 'pets'], ['--nope']]) {
      expect((await run(databaseUrl, ...args)).code).toBe(2);
    }
    expect((await run(databaseUrl, 'import', 'pets', '/nope.jsonl')).stderr).toContain('ENOENT');
  }, 60_000);

  it('describe their options with --help', async () => {
    for (const args of [['keys'], ['keys', 'create'], ['import'], ['export'], ['migrate'], []]) {
      const { code, stdout } = await run(':memory:', ...args, '--help');
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: /)]);
    }
  }, 60_000);
});
