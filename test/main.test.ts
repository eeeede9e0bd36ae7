import { createServer } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AddPetDocument, ListPetsDocument } from '../packages/client/src/documents.ts';
import { serve } from '../src/cli/serve.ts';
import { loadConfig } from '../src/config/config.ts';
import { documentedVariables } from '../src/config/variables.ts';
import { createFolder } from './support/folder.ts';
import { postGraphQL } from './support/graphql.ts';
import { openTelemetry } from './support/log.ts';
import { manifestFile } from './support/manifest.ts';
import { commandPath, nodeStart, npmStart, runCommand, startIn } from './support/process.ts';
import { startServer } from './support/server.ts';
import { openTerminal } from './support/terminal.ts';
import { startUpstream } from './support/upstream.ts';

const folder = createFolder();

/** Redirects requests for the test gateway to the running process. */
const over = (url: string) => async (request: Request) =>
  fetch(url + new URL(request.url).pathname, {
    method: request.method,
    headers: request.headers,
    body: await request.text(),
  });

describe('npm start', () => {
  it('serves the demo, and a second gateway that uses the first as its REST service', async () => {
    await using first = await npmStart({ DATABASE_URL: `file:${folder}/main.db`, DEMO: 'on' });
    const { data } = await postGraphQL(over(first.url), ListPetsDocument, { limit: 5 });
    expect(data?.pets?.[0]).toMatchObject({ id: '1', name: 'Biscuit', categoryId: '1' });
    const input = { name: 'Rex', categoryId: '9223372036854775807' };
    const added = await postGraphQL(over(first.url), AddPetDocument, { input });
    expect(added.data?.addPet).toMatchObject(input);

    await using second = await npmStart({
      PETSTORE_BASE_URL: `${first.url}/v1`,
      MESSAGES_BASE_URL: `${first.url}/quickstart`,
    });
    expect(second.output.stdout).toContain(`REST service at ${first.url}/v1`);
    const again = await postGraphQL(over(second.url), AddPetDocument, { input });
    expect(again.data?.addPet).toMatchObject(input);
    const { errors, data: partial } = await postGraphQL(
      over(second.url),
      '{ pets(limit: 1) { id } pet(id: "404404") { id } orders }',
    );
    expect(partial).toMatchObject({ pets: [{ id: '1' }], pet: null, orders: [{}, {}] });
    expect(errors).toMatchObject([
      { path: ['pet'], extensions: { code: 'NOT_FOUND', status: 404 } },
    ]);
  });

  it('prints only the backend, the URLs and the demo key', async () => {
    await using started = await npmStart({ DATABASE_URL: ':memory:' });
    expect(started.output.stdout.replaceAll(/:\d+/g, ':PORT')).toMatchInlineSnapshot(`
      "Pet Store gateway
        Backend  built-in, :memory:
        GraphQL  http://127.0.0.1:PORT/graphql (GraphiQL in a browser)
        REST     http://127.0.0.1:PORT/v1 (reference at http://127.0.0.1:PORT/v1/docs)
        API key  demo-key (demo only)

      "
    `);
    expect(started.output.stderr).toBe('');
  });

  it.each([
    ['http://unknown.invalid/v1', '(?:ENOTFOUND|EAI_AGAIN)'],
    ['http://127.0.0.1:1/v1', 'ECONNREFUSED'],
  ])('starts, and reports that %s is not reachable', async (url, code) => {
    await using started = await nodeStart({ PETSTORE_BASE_URL: url });
    const line = new RegExp(
      `^  Backend +REST service at ${url} \\(not reachable: ${code}\\)$`,
      'm',
    );
    expect(started.output.stdout).toMatch(line);
    expect((await fetch(`${started.url}/livez`)).status).toBe(200);
  });

  it('warns of a demo that other machines can reach', async () => {
    const env = { DATABASE_URL: ':memory:', HOST: '0.0.0.0', DEMO: 'on' };
    await using started = await nodeStart(env);
    const [line] = /^.*demo-key.*$/m.exec(started.output.stdout) ?? [];
    expect(line).toBe('  WARNING  DEMO=on: anyone on the network can write with demo-key');
  });

  it('does not offer GraphiQL when only persisted documents are served', async () => {
    await using started = await nodeStart({
      DATABASE_URL: ':memory:',
      PERSISTED_DOCUMENTS: 'only',
      PERSISTED_DOCUMENTS_FILE: manifestFile,
    });
    expect(started.output.stdout).not.toContain('GraphiQL');
  });

  it('exits before it listens if the configuration is invalid, and lists every problem', async () => {
    const { code, stdout, stderr } = await runCommand([], { PORT: 'http', NODE_ENV: 'prod' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The configuration has 2 problems:\n {2}- PORT/);
    expect(stderr).not.toContain('.ts:');
  });

  it('prints its configuration with --print-config, and does not start', async () => {
    const args = [await commandPath(), '--print-config'];
    await using printed = await startIn(folder, args, { DATABASE_URL: ':memory:' });
    expect(printed.url).toBe('');
    expect(await printed.exited).toBe(0);
    expect(printed.output.stdout).toMatch(/^VARIABLE +VALUE +SOURCE\n(?:\w+ .*\n)+$/);
  });

  it('exits if a file is missing, and describes the error of the system in words', async () => {
    const { code, stderr } = await runCommand([], {
      DATABASE_URL: ':memory:',
      PERSISTED_DOCUMENTS: 'only',
      PERSISTED_DOCUMENTS_FILE: '/nope.json',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/, found: \/nope\.json: no such file or directory\n$/);
  });

  it('warns once about unknown variables, and about those that workers need', async () => {
    await using started = await nodeStart({
      PETSTORE_BASE_URL: 'http://127.0.0.1:9/v1',
      WORKERS: '2',
      LOG_LVL: 'hunter2',
    });
    started.kill('SIGTERM');
    await started.exited;
    const lines = started.output.stderr.split('\n').filter((one) => one.includes('"variables"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'warn',
        variables: ['LOG_LVL (did you mean LOG_LEVEL?)'],
        msg: 'ignoring unknown variables; check their spelling',
      },
      {
        level: 'warn',
        variables: ['IDEMPOTENCY_STORE'],
        msg: 'without these variables, each worker limits and remembers alone',
      },
    ]);
    expect(started.output.stderr).not.toContain('hunter2');
  });
});

const local = { DATABASE_URL: ':memory:', PORT: '0' };
const start = (env: Record<string, string>) =>
  serve(loadConfig({ ...local, ...env }), openTelemetry());

describe('a gateway that cannot listen', () => {
  const long = `/tmp/${'x'.repeat(200)}`;
  it.each<[env: Record<string, string>, message: string]>([
    [
      { HOST: '192.0.2.1' },
      'HOST: expected an address of this machine, received 192.0.2.1: listen EADDRNOTAVAIL',
    ],
    [
      { ADMIN_HOST: '192.0.2.1', ADMIN_PORT: '0' },
      'ADMIN_HOST: expected an address of this machine, received 192.0.2.1: listen EADDRNOTAVAIL',
    ],
    [
      { HOST: 'unix:/nowhere/gateway.sock' },
      'HOST: expected a path in a folder that exists, received /nowhere/gateway.sock',
    ],
    [
      { HOST: `unix:${long}` },
      "HOST: expected a shorter path: a socket's has at most 107 bytes, or 103 on macOS; received 205",
    ],
  ])('names the variable: %j', async (env, message) => {
    await expect(start(env)).rejects.toThrow(message);
  });

  it('reports a port that is already in use', async () => {
    await using first = await startServer(createServer());
    const { port } = new URL(first.url);
    await expect(start({ PORT: port })).rejects.toThrow(
      `PORT: port ${port} is already in use. Start the gateway with another port: PORT=`,
    );
  });
});

describe('a terminal', () => {
  const start = '\u001b[';
  const red = (text: string) => `${start}31m${text}${start}39m`;

  it.each([
    ['colours what went wrong', {}, (text: string) => text],
    ['shows no colours with NO_COLOR', { NO_COLOR: '1' }, stripVTControlCharacters],
  ])('%s', async (_, env, expected) => {
    using terminal = await openTerminal('', { DATABASE_URL: ':memory:', LOG_LVL: 'x', ...env });
    const [, url] = await terminal.show(/GraphQL +(http:\/\/[\d.:]+)/);
    await fetch(`${url}/graphql`, { method: 'POST', headers: { 'x-request-id': 'one' } });
    const [log] = await terminal.show(/^.*WARN.* requestId=one/ms);
    const warning = `${start}33mWARN ${start}39m ignoring unknown variables`;
    expect(log).toContain(` ${expected(warning)}`);
    const failed = `${red('status=415')} ${red('codes=["UNSUPPORTED_MEDIA_TYPE"]')}`;
    expect(log).toContain(`INFO  request operation=POST /graphql ${expected(failed)}`);

    await using upstream = await startUpstream((_request, response) => response.end('[]'));
    const check = `check-service --key nobody --base-url ${upstream.url}/v1`;
    using checked = await openTerminal(check, env);
    expect((await checked.show(/^[^\r\n]*FAIL/m))[0]).toBe(expected(`${start}31mFAIL`));
  });
});

describe('a command that is mistyped', () => {
  it.each([
    [['server'], "error: unknown command 'server'\n(Did you mean serve?)\n"],
    [['nothing'], "error: unknown command 'nothing'\n"],
    [['start'], "error: unknown command 'start'\n(Did you mean serve?)\n"],
    [['keys', 'add', 'shop'], "error: unknown command 'add'\n(Did you mean create?)\n"],
    [['help', 'nothing', 'x'], "error: unknown command 'nothing'\n"],
    [['help', 'keys', 'rovoke', 'x'], "error: unknown command 'rovoke'\n(Did you mean revoke?)\n"],
    [['help', 'variables', 'nothing'], 'error: unknown variable NOTHING\n'],
    [
      ['help', 'variables', 'max_deph'],
      'error: unknown variable MAX_DEPH (did you mean MAX_DEPTH?)\n',
    ],
    [['help', 'variables', 'pot'], 'error: unknown variable POT (did you mean PORT?)\n'],
    [['--port', '5'], "error: unknown option '--port'\nSet the variable instead: PORT=5\n"],
    [['--log-level=debug'], /^.*\nSet the variable instead: LOG_LEVEL=debug\n$/],
    [['keys', 'accounts', '--database-url'], /DATABASE_URL=…/],
    [['--nope'], "error: unknown option '--nope'\n"],
  ])('%j is refused with what was meant', async (args, message) => {
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(2);
    const [, problem] = /^(.*)--help lists the commands and options\.\n$/s.exec(stderr) ?? [];
    if (typeof message === 'string') expect(problem).toBe(message);
    else expect(problem).toMatch(message);
  });
});

describe('the help', () => {
  it('shows the commands and the main variables on one screen', async () => {
    const { stdout } = await runCommand(['--help']);
    expect(stdout.split('\n').length).toBeLessThanOrEqual(50);
    expect(stdout).toMatch(
      /^Usage:.*^ {2}check-service.*`help variables`.*^ {2}PETSTORE_BASE_URL$/ms,
    );
  });

  it('lists every variable with what it accepts', async () => {
    const { stdout } = await runCommand(['help', 'variables']);
    const names = documentedVariables().map(([name]) => name);
    const listed = [...stdout.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(names.toSorted());
    expect(stdout.match(/^ {6}accepts /gm)?.length).toBe(names.length);
  });

  it('describes one variable, and a command that it does not run', async () => {
    const { stdout } = await runCommand(['help', 'variables', 'MAX_DEPTH']);
    expect(stdout).toMatch(/^ {2}MAX_DEPTH \[10\]\n.*\n {6}accepts .*\n$/);
    const revoke = await runCommand(['help', 'keys', 'revoke', 'k1']);
    expect(revoke.stdout).toMatch(/^Usage: petstore-gateway keys revoke /);
  });
});
