import { tmpdir } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { startCpuClock } from '../../bench/cores.ts';
import { measure } from '../../bench/measure.ts';
import { type Stack, sources } from '../../bench/stacks.ts';
import { startServer } from '../../bench/start.ts';
import { startUpstream } from '../../bench/upstream.ts';
import { defaultWorkload, workloads } from '../../bench/workloads.ts';

vi.setConfig({ testTimeout: 300_000 });

const fixtures = { folder: tmpdir() };
const only = [defaultWorkload];

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
    const readCpuMicros = startCpuClock(process.pid);
    await using server = await startServer(sources, only, { ...fixtures, upstream });
    const { expectedBody = '' } = server.targets.get(defaultWorkload) ?? {};
    expect(JSON.parse(expectedBody).data.pets).toHaveLength(20);
    expect(await upstream.stats()).toEqual({
      requests: 1,
      authorization: 'Bearer sources-pets-20',
    });
    expect(server.process.startCpuClock()()).toBeGreaterThanOrEqual(0);
    expect(server.process.memoryBytes()).toBeGreaterThan(1_000_000);
    expect(readCpuMicros()).toBeGreaterThan(0);
  });

  it('is rejected when its response is wrong, with the difference in the error', async () => {
    await using upstream = await startUpstream();
    const wrong = script(`
      import { createServer } from 'node:http';
      createServer((request, response) => response.end('{"data":{"pets":[]}}')).listen(port);
    `);
    await expect(startServer(wrong, only, { ...fixtures, upstream })).rejects.toThrow(
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
    await expect(startServer(withOtherKey, only, { ...fixtures, upstream })).rejects.toThrow(
      "Expected the REST service to receive the caller's API key",
    );
  });

  it('responds correctly to the request of every workload', async () => {
    await using upstream = await startUpstream();
    await using server = await startServer(sources, workloads, { ...fixtures, upstream });
    expect([...server.targets.keys()]).toEqual(workloads);
    // Five root fields are five REST calls.
    expect(await upstream.stats()).toMatchObject({ requests: workloads.length + 4 });
  });

  it('is listed with the reason when it cannot run or fails', async () => {
    await using upstream = await startUpstream();
    const unsupported = { ...sources, unsupportedReason: () => 'no C library' };
    const exiting = script('process.exit(3)');
    const plan = { stacks: [unsupported, exiting], workloads, rounds: 1, seconds: 1 };
    const results = await measure(plan, { ...fixtures, upstream }, () => {});
    expect(results.map(({ reason }) => reason)).toEqual([
      'no C library',
      expect.stringContaining('Expected a server, but the process exited.'),
    ]);
  });
});
