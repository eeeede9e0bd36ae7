import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createFolder } from '../support/folder.ts';
import { copySources, gatewayFiles } from '../support/packages.ts';
import { shellStart } from '../support/process.ts';
import { installEnv, registryTest } from '../support/registry.ts';

vi.setConfig({ testTimeout: 600_000 });

const run = promisify(execFile);
const parent = createFolder();
const checkout = await copySources('.', [...gatewayFiles, 'examples']);
afterAll(() => rm(checkout, { recursive: true }));

/** Makes a project of an example. @returns what the command prints. */
const create = (...args: string[]) =>
  run('npm', ['run', '-s', 'example', '--', ...args], { cwd: checkout, env: installEnv });

describe('npm run example', () => {
  registryTest.each([
    ['bff', 'npm start', ['petstore-gateway']],
    ['page', 'npm start -- --port 0', ['petstore-gateway', 'petstore-gateway-client']],
  ])('makes a project of examples/%s, which starts', async (name, start, packages) => {
    const folder = join(parent, name);
    const { stdout } = await create(name, folder);
    expect(stdout).toMatch(/Created \S+\. Next:\n {2}cd \S+\n {2}npm start\n$/);
    const tarballs = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
    expect(tarballs).toEqual(packages.map((one) => expect.stringMatching(`^${one}-\\d.*`)));
    await using page = await shellStart(folder, start, {}, /(?:Storefront.* |Local: +)(http:\S+)/);
    const headers = { authorization: 'Bearer demo-key' };
    const first = await (await fetch(page.url, { headers })).text();
    expect(first).toMatch(/"available":\["Biscuit"|<h1>Pet shop/);
    await expect.poll(() => page.output.stdout).toMatch(/GraphQL +http/);
    const [, url] = /GraphQL +(http\S+)/.exec(page.output.stdout) ?? [];
    const pets = await fetch(`${url}?query={pets(limit:1){name}}`, { headers });
    expect(await pets.json()).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
    const command = join(folder, 'node_modules/.bin/node');
    expect((await run(command, ['-v'])).stdout).toBe(`${process.version}\n`);
  });

  it('says what it expects', async () => {
    const usage =
      /^NAME: expected one of the examples, received pages\.\nUsage: npm run example -- NAME FOLDER\n.*bff, .*, page, .*yoga\n$/s;
    await expect(create('pages', join(parent, 'new'))).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(usage),
    });
    await expect(create('bff', parent)).rejects.toMatchObject({
      code: 1,
      stderr: `FOLDER: expected a new folder, received ${parent}.\n`,
    });
  });
});
