import { execFile } from 'node:child_process';
import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { createFolder } from '../support/folder.ts';
import { startGateway } from '../support/gateway.ts';
import { startIn } from '../support/process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFile(join(root, file), 'utf8');
const dockerfile = await read('Dockerfile');
const [, build = '', image = ''] = dockerfile.split(/^FROM /m);

/** The files that a stage copies from the checkout. */
const copiedIn = (stage: string) =>
  [...stage.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files = '']) => files.split(' '));

describe('the image', () => {
  const folder = createFolder();

  it('starts the Node version of the tests, with the documented option', async () => {
    const { devDependencies } = JSON.parse(await read('package.json'));
    expect(/ARG NODE_VERSION=(.*)/.exec(dockerfile)?.[1]).toBe(devDependencies.node);
    expect(process.versions.node).toBe(devDependencies.node);
    const options = /^ENTRYPOINT \["node", "(--\S+)"/m.exec(dockerfile)?.[1] ?? 'none';
    expect(await read('docs/production.md')).toContain(
      `The image starts Node with \`${options}\`.`,
    );
  });

  it('has a build context of exactly the files that it copies', async () => {
    const lines = (await read('.dockerignore')).trim().split('\n');
    const patterns = lines.filter((line) => !line.startsWith('#'));
    const files = [...new Set(copiedIn(dockerfile))];
    expect(patterns.toSorted()).toEqual(['*', ...files.map((file) => `!${file}`)].toSorted());
  });

  it('copies all files that the build and the gateway need', async () => {
    const copyStage = async (name: string, files: readonly string[]) => {
      const stage = join(folder, name);
      for (const file of files) await cp(join(root, file), join(stage, file), { recursive: true });
      return stage;
    };
    const builder = await copyStage('build', copiedIn(build));
    await symlink(join(root, 'node_modules'), join(builder, 'node_modules'));
    const [, args = ''] = /^RUN node (.*)$/m.exec(build) ?? [];
    await promisify(execFile)(process.execPath, args.split(' '), { cwd: builder });
    const runtime = await copyStage('image', copiedIn(image));
    await cp(join(builder, 'dist'), join(runtime, 'dist'), { recursive: true });
    const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(image) ?? [];
    await using started = await startIn(runtime, JSON.parse(entry).slice(1), {
      DATABASE_URL: ':memory:',
    });
    expect((await fetch(`${started.url}/v1/openapi.json`)).status).toBe(200);
    expect((await fetch(`${started.url}/v1/docs`)).status).toBe(200);
    expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
    const accept = 'text/html';
    expect((await fetch(`${started.url}/graphql`, { headers: { accept } })).status).toBe(200);
  }, 300_000);

  it('is healthy only while the gateway responds', async () => {
    const [command, ...args] = JSON.parse(/^HEALTHCHECK .* CMD (.*)$/m.exec(dockerfile)?.[1] ?? '');
    expect(command).toBe('node');
    const check = (port: string) =>
      promisify(execFile)(process.execPath, args, { env: { PORT: port } });
    // As in a pod with IPv6 addresses only.
    await using everywhere = await startGateway({ host: '::' });
    await check(new URL(everywhere.url).port);
    await using service = await startGateway();
    await check(new URL(service.url).port);
    await service.close(0);
    await expect(check(new URL(service.url).port)).rejects.toMatchObject({ code: 1 });
  });
});

describe('the compose file', () => {
  it('matches the service name and port in nginx.conf, and allows a graceful shutdown', async () => {
    const { services } = parse(await read('compose.yaml'));
    const nginx = await read('deploy/nginx.conf');
    const [, name = '', port] = /server (\S+):(\d+)/.exec(nginx) ?? [];
    expect(services[name].build).toBe('.');
    expect(dockerfile).toContain(`PORT=${port}`);
    const seconds = Number.parseInt(services[name].stop_grace_period, 10);
    expect(seconds).toBeGreaterThan(loadConfig({}).shutdownGraceMs / 1000);
    expect(services[name].ulimits.nofile).toBeGreaterThan(5400);
  });
});

it.each([
  'balancer',
  'gateway',
  'database',
])('the %s of the compose file can write nowhere else, and gain no privileges', async (name) => {
  const { services } = parse(await read('compose.yaml'));
  expect(services[name]).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  // That of the gateway is in the image.
  const user = services[name].user ?? /^USER (.*)$/m.exec(image)?.[1];
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

describe('the workflows', () => {
  it.each(['ci.yaml', 'release.yaml'])('%s runs .ci/run before any other job', async (file) => {
    const { jobs } = parse(await read(`.github/workflows/${file}`));
    const commands = jobs.test.steps.map(({ run }: { readonly run?: string }) => run);
    expect(commands.at(-1)).toBe('.ci/run');
    const { test, ...others } = jobs;
    for (const job of Object.values<{ readonly needs: string }>(others)) {
      expect(job.needs).toBe('test');
    }
  });

  // A tag can be moved to other code, which would run with the permissions of a release.
  it.each(['ci.yaml', 'release.yaml'])('%s names actions by their commits', async (file) => {
    const actions = (await read(`.github/workflows/${file}`)).match(/(?<=uses: ).*/g) ?? [];
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/);
  });
});
