import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../bench/shapes.ts';
import { type Stack, sources } from '../../bench/stacks.ts';
import { startServer } from '../../bench/start.ts';
import { startUpstream } from '../../bench/upstream.ts';
import { defaultWorkload, ownWorkloads, type Workload, workloads } from '../../bench/workloads.ts';

const apiKey = 'bench-key';
const fixtures = { folder: tmpdir(), databaseUrl: ':memory:', apiKey };

/** A server that runs this JavaScript code, with its port in the variable `port`. */
function script(code: string): Stack {
  return {
    ...sources,
    title: 'A script',
    command: ({ port }) => ({
      argv: [process.execPath, '--input-type=module', '-e', `const port = ${port}; ${code}`],
      env: {},
    }),
  };
}

describe.skipIf(process.platform !== 'linux')('a server of the benchmark', () => {
  it('is ready once it has responded correctly and forwarded the API key of the caller', async () => {
    await using upstream = await startUpstream();
    await using server = await startServer(sources, defaultWorkload, { ...fixtures, upstream });
    expect(JSON.parse(server.expectedBodies[0] ?? '').data.pets).toHaveLength(20);
    expect(await upstream.stats()).toEqual({ requests: 1, authorization: `Bearer ${apiKey}` });
    expect(server.startMs).toBeGreaterThan(0);
    expect(server.process.cpuMs()).toBeGreaterThan(0);
    expect(server.process.peakMemoryBytes()).toBeGreaterThan(1_000_000);
  });

  it('is rejected when its response is wrong, with the difference in the error', async () => {
    await using upstream = await startUpstream();
    const wrong = script(`
      import { createServer } from 'node:http';
      createServer((request, response) => response.end('{"data":{"pets":[]}}')).listen(port);
    `);
    await expect(startServer(wrong, defaultWorkload, { ...fixtures, upstream })).rejects.toThrow(
      /A script: Expected at character 17: \{"data".*; received: \{"data":\{"pets":\[\]\}\}/,
    );
  });

  it('is rejected when it does not forward the API key', async () => {
    await using upstream = await startUpstream();
    const withOtherKey = {
      ...script(`
        import { createServer } from 'node:http';
        const options = { headers: { authorization: 'Bearer another' } };
        const body = await (await fetch('${upstream.url}/pets?limit=20', options)).text();
        createServer((request, response) => response.end(body)).listen(port);
      `),
      isPassThrough: true,
    };
    await expect(
      startServer(withOtherKey, defaultWorkload, { ...fixtures, upstream }),
    ).rejects.toThrow("Expected the REST service to receive the caller's API key");
  });

  it('is rejected when the process exits, with the end of its output in the error', async () => {
    await using upstream = await startUpstream();
    const exiting = script(`process.stderr.write('no more pets'); process.exit(3)`);
    await expect(startServer(exiting, defaultWorkload, { ...fixtures, upstream })).rejects.toThrow(
      'A script: Expected a server, but the process exited.\nno more pets',
    );
  });

  it('serves five root fields in one request', async () => {
    const fiveFields = workloads.find(({ name }) => name === 'bff') as Workload;
    await using upstream = await startUpstream();
    await using server = await startServer(sources, fiveFields, { ...fixtures, upstream });
    expect(await upstream.stats()).toMatchObject({ requests: 5 });
    expect(Object.keys(JSON.parse(server.expectedBodies[0] ?? '').data)).toHaveLength(5);
  });

  it.each(ownWorkloads)('responds correctly to every request of $name', async (workload) => {
    await using upstream = await startUpstream();
    await using server = await startServer(sources, workload, { ...fixtures, upstream });
    expect(new Set(server.expectedBodies).size).toBe(workload.operations.length);
  });

  it('is rejected when it omits a selected __typename', async () => {
    const apollo = workloads.find(({ name }) => name === 'apollo') as Workload;
    const { data } = apollo.operations[0] as Operation;
    await using upstream = await startUpstream();
    const withoutTypes = script(`
      import { createServer } from 'node:http';
      const body = JSON.stringify({ data: ${JSON.stringify(data)} });
      createServer((request, response) => response.end(body)).listen(port);
    `);
    await expect(startServer(withoutTypes, apollo, { ...fixtures, upstream })).rejects.toThrow(
      /Expected at character 19: .*"__typename":"Pet"/,
    );
  });
});
