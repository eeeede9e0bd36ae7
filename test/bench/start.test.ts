import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../bench/shapes.ts';
import { type Stack, sources } from '../../bench/stacks.ts';
import { startServer } from '../../bench/start.ts';
import { startUpstream } from '../../bench/upstream.ts';
import { ownWorkloads, usualWorkload, type Workload, workloads } from '../../bench/workloads.ts';

const apiKey = 'bench-key';
const surroundings = { folder: tmpdir(), databaseUrl: ':memory:', apiKey };

/** A server that is these lines of JavaScript, with the port in `port`. */
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
  it('is measured once it has answered rightly with the key of its caller', async () => {
    await using upstream = await startUpstream();
    await using server = await startServer(sources, usualWorkload, { ...surroundings, upstream });
    expect(JSON.parse(server.answers[0] ?? '').data.pets).toHaveLength(20);
    expect(await upstream.seen()).toEqual({ requests: 1, authorization: `Bearer ${apiKey}` });
    expect(server.startMs).toBeGreaterThan(0);
    expect(server.process.cpuMs()).toBeGreaterThan(0);
    expect(server.process.peakMemoryBytes()).toBeGreaterThan(1_000_000);
  });

  it('is refused when its answer is wrong, which the error shows', async () => {
    await using upstream = await startUpstream();
    const wrong = script(`
      import { createServer } from 'node:http';
      createServer((request, response) => response.end('{"data":{"pets":[]}}')).listen(port);
    `);
    await expect(startServer(wrong, usualWorkload, { ...surroundings, upstream })).rejects.toThrow(
      /A script: Expected at 17: \{"data".*; received: \{"data":\{"pets":\[\]\}\}/,
    );
  });

  it('is refused when it keeps the key to itself', async () => {
    await using upstream = await startUpstream();
    const keyless = {
      ...script(`
        import { createServer } from 'node:http';
        const options = { headers: { authorization: 'Bearer another' } };
        const body = await (await fetch('${upstream.url}/pets?limit=20', options)).text();
        createServer((request, response) => response.end(body)).listen(port);
      `),
      isBare: true,
    };
    await expect(
      startServer(keyless, usualWorkload, { ...surroundings, upstream }),
    ).rejects.toThrow("Expected the caller's key at the REST service");
  });

  it('is refused when it ends, with its last words', async () => {
    await using upstream = await startUpstream();
    const ending = script(`process.stderr.write('no more pets'); process.exit(3)`);
    await expect(startServer(ending, usualWorkload, { ...surroundings, upstream })).rejects.toThrow(
      'A script: Expected a server, but the process ended.\nno more pets',
    );
  });

  it('is asked five root fields at once, too', async () => {
    const fiveFields = workloads.find(({ name }) => name === 'bff') as Workload;
    await using upstream = await startUpstream();
    await using server = await startServer(sources, fiveFields, { ...surroundings, upstream });
    expect(await upstream.seen()).toMatchObject({ requests: 5 });
    expect(Object.keys(JSON.parse(server.answers[0] ?? '').data)).toHaveLength(5);
  });

  it.each(ownWorkloads)('answers every request of $name', async (workload) => {
    await using upstream = await startUpstream();
    await using server = await startServer(sources, workload, { ...surroundings, upstream });
    expect(new Set(server.answers).size).toBe(workload.operations.length);
  });

  it('is refused when it leaves out a type that a client asks for', async () => {
    const apollo = workloads.find(({ name }) => name === 'apollo') as Workload;
    const { data } = apollo.operations[0] as Operation;
    await using upstream = await startUpstream();
    const typeless = script(`
      import { createServer } from 'node:http';
      const answer = JSON.stringify({ data: ${JSON.stringify(data)} });
      createServer((request, response) => response.end(answer)).listen(port);
    `);
    await expect(startServer(typeless, apollo, { ...surroundings, upstream })).rejects.toThrow(
      /Expected at 19: .*"__typename":"Pet"/,
    );
  });
});
