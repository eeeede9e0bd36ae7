import { once } from 'node:events';
import { createServer } from 'node:http';
import * as http2 from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Connections } from '../../src/http/connections.ts';
import type { BodyParts } from '../../src/http/message.ts';
import { createNodeListener } from '../../src/http/node.ts';
import { createEnvironment } from '../../src/request/request-environment.ts';
import type { RequestRecord } from '../../src/request/request-record.ts';
import { quiet } from '../support/log.ts';
import { connectTo } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';

const environment = createEnvironment(quiet);

/** An endless body in parts of 1 MiB. */
function endlessParts() {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const part = 'x'.repeat(1024 * 1024);
  let produced = 0;
  const parts: BodyParts = {
    next: async () => ({ value: `${++produced} ${part}`, done: false }),
    return: async () => {
      finish();
      return { value: undefined, done: true };
    },
    end: finish,
    [Symbol.asyncIterator]: () => parts,
  };
  return {
    response: { status: 200, headers: {}, body: '', parts },
    finished,
    produced: () => produced,
  };
}

describe('a connection', () => {
  it.each([
    ['a response', () => ({ status: 200, headers: {}, body: 'x'.repeat(30_000_000) })],
    ['a response in parts', () => endlessParts().response],
  ])('is closed when its client leaves %s unread', async (_, respond) => {
    const connections = new Connections(1, undefined, 50);
    const handle = async () => respond();
    const http = createServer(createNodeListener({ environment, handle }, connections))
      .on('connection', (socket) => connections.add(socket))
      .on('timeout', connections.closeInactive);
    await using server = await startServer(http);
    const client = connectTo(server.url).pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [socket] = await once(http, 'connection');
    await once(socket, 'close');
    client.destroy();
  });
});

describe('a body in parts', () => {
  it('is produced only as fast as the client reads, and cancelled when it disconnects', async () => {
    const { response, finished, produced } = endlessParts();
    const handle = async () => response;
    await using server = await startServer(
      createServer(createNodeListener({ environment, handle })),
    );
    const client = connectTo(server.url).pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(0));
    for (let turns = 0; turns < 200; turns++) await turn();
    const unread = produced();
    expect(unread).toBeLessThan(50);
    client.resume();
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(unread + 50), { timeout: 60_000 });
    client.destroy();
    await finished;
  });

  it('is cancelled when its client leaves over HTTP/2', async () => {
    const { response, finished, produced } = endlessParts();
    const records: RequestRecord[] = [];
    const handle = async (record: RequestRecord) => {
      records.push(record);
      return response;
    };
    const listener = createNodeListener({ environment, handle });
    // Node calls requests of HTTP/2 compatible with those of HTTP/1.1; their types differ.
    await using server = await startServer(http2.createServer(listener as never));
    const session = http2.connect(server.url);
    session
      .request({ ':path': '/' })
      .on('error', () => {})
      .pause();
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(0));
    session.destroy();
    await finished;
    expect(records[0]?.cancelled).toBeDefined();
  });
});
