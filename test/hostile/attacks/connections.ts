import { connect, type Socket } from 'node:net';
import type { Attack, Target } from '../attack.ts';
import {
  graphql,
  type HeldSockets,
  holdSockets,
  rawHead,
  rawPost,
  socketsOf,
  writeAll,
} from '../drive.ts';

const json = 'Content-Type: application/json\r\n';

/** Writes a head, then many chunks. */
function chunks(head: string, chunk: string, count: number) {
  // Many chunks per write, for speed.
  const batch = chunk.repeat(1000);
  return ({ signal }: Target): HeldSockets['start'] =>
    (socket) =>
      writeAll(socket, [head, ...Array(Math.ceil(count / 1000)).fill(batch), '0\r\n\r\n'], signal);
}

const chunked = (method: string, path: string, key?: string) =>
  `${rawHead(method, path, key)}${json}Transfer-Encoding: chunked\r\n\r\n`;

const small = rawPost(graphql('{ __typename }'));

/** Creates an attack by which so many open connections send the same at the same time. */
function atOnce(id: string, count: number, text: string): Attack {
  // Encoded once, because the attacker shares the machine with the honest client.
  const bytes = Buffer.from(text);
  return {
    id,
    backend: 'rest',
    async run(target) {
      const allOpen = Promise.withResolvers<void>();
      target.signal.addEventListener('abort', () => allOpen.resolve());
      let opened = 0;
      await holdSockets(target, {
        count,
        reads: false,
        start: async (socket) => {
          if (++opened === count) allOpen.resolve();
          await allOpen.promise;
          socket.write(bytes);
        },
      });
    },
  };
}

/** Opens connections repeatedly, so many at a time, each of which its client resets. */
async function connectRepeatedly(
  { port, signal, countRequest }: Target,
  count: number,
  start: (socket: Socket) => void,
) {
  async function connectInTurn() {
    while (!signal.aborted) {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      const closed = new Promise((resolve) => socket.once('close', resolve));
      start(socket);
      countRequest();
      await closed;
    }
  }
  await Promise.all(Array.from({ length: count }, connectInTurn));
}

/** Resets a connection as soon as the kernel has accepted it. */
function resetEarly(socket: Socket): void {
  socket.once('connect', () => socket.resetAndDestroy());
}

/** Attacks by connections: held open, slow, flooded or not read. */
export const connectionAttacks: readonly Attack[] = [
  socketsOf(
    'endless chunks',
    24,
    chunks(chunked('POST', '/graphql'), `1000\r\n${' '.repeat(4096)}\r\n`, 20_000),
  ),
  socketsOf(
    'chunk extensions',
    12,
    chunks(chunked('POST', '/graphql'), `1;${'x'.repeat(8000)}\r\n \r\n`, 10_000),
  ),
  socketsOf('silent bodies', 1000, () => (socket) => {
    socket.write(`${rawHead('POST', '/graphql')}${json}Content-Length: 100\r\n\r\n`);
  }),
  socketsOf('almost complete bodies', 1000, ({ signal }) => {
    const most = Buffer.from(rawPost(' '.repeat(250_000))).subarray(0, -1);
    return (socket) => writeAll(socket, [most], signal);
  }),
  socketsOf('continue', 1000, () => (socket) => {
    socket.write(
      `${rawHead('POST', '/graphql')}${json}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n`,
    );
  }),
  socketsOf('silent headers', 1000, () => (socket) => {
    socket.write(`${rawHead('POST', '/graphql')}X-Long: ${'x'.repeat(15_000)}`);
  }),
  socketsOf('silent connections', 2000, () => () => {}),
  socketsOf(
    'headers too large',
    50,
    ({ signal }) =>
      (socket) =>
        writeAll(
          socket,
          Array(50).fill(`${rawHead('GET', '/')}Cookie: ${'x'.repeat(30_000)}\r\n\r\n`),
          signal,
        ),
  ),
  socketsOf('many headers', 32, ({ signal }) => {
    const headers = Array.from({ length: 1000 }, (_, n) => `a${n}: ${n}\r\n`).join('');
    const cookies = 'Cookie: a=b\r\n'.repeat(100);
    const text = `${rawHead('GET', '/graphql?query={__typename}')}${headers}${cookies}\r\n`;
    return (socket) => writeAll(socket, Array(200).fill(text), signal);
  }),
  socketsOf('HTTP/1.0 without Host', 2000, () => (socket) => {
    socket.write('GET /graphql?query={__typename} HTTP/1.0\r\n\r\n');
  }),
  socketsOf('upgrades', 1000, () => (socket) => {
    socket.write(`${rawHead('GET', '/graphql')}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  }),
  socketsOf('not HTTP', 1000, () => (socket) => {
    socket.write(Buffer.alloc(4096, 0x16));
  }),
  socketsOf('1,200 slow requests pipelined', 1, ({ signal, apiKey }) => {
    const one = (index: number) =>
      rawPost(graphql(`{ pets(limit: 1, status: sold) { a${index}: id } }`), { apiKey });
    const all = Array.from({ length: 1200 }, (_, index) => one(index)).join('');
    return (socket) => writeAll(socket, [all], signal);
  }),
  socketsOf('all slots of one key', 1200, ({ apiKey }) => (socket, index) => {
    socket.write(rawPost(graphql(`{ a${index}: pets(limit: 1) { id } }`), { apiKey }));
  }),
  {
    id: 'short connections',
    backend: 'rest',
    run: (target) => connectRepeatedly(target, 20, resetEarly),
  },
  {
    id: 'pipelined beside short connections',
    backend: 'rest',
    run: async (target) => {
      const { signal } = target;
      const batch = Array(1000).fill(small.repeat(10));
      await Promise.all([
        connectRepeatedly(target, 64, resetEarly),
        holdSockets(target, {
          count: 100,
          reads: true,
          start: (socket) => writeAll(socket, batch, signal),
        }),
      ]);
    },
  },
  ...['/graphql', '/livez', '/v1/pets', '/nowhere'].map((path) =>
    socketsOf(
      `one-byte chunks to ${path}`,
      12,
      chunks(chunked('POST', path), '1\r\n \r\n', 240_000),
      { backend: 'built-in' },
    ),
  ),
  socketsOf(
    'one-byte chunks of a GET',
    12,
    chunks(chunked('GET', '/graphql?query={__typename}'), '1\r\n \r\n', 240_000),
  ),
  socketsOf(
    'pipelined probes, unread',
    20,
    ({ signal }) => {
      const batch = `${rawHead('GET', '/livez')}\r\n`.repeat(500);
      return (socket) => writeAll(socket, Array(200).fill(batch), signal);
    },
    { reads: false },
  ),
  socketsOf(
    'invalid and unread',
    50,
    ({ signal }) => {
      const one = rawPost(graphql(`{ ${'nope '.repeat(450)} }`));
      return (socket) => writeAll(socket, Array(400).fill(one), signal);
    },
    { reads: false },
  ),
  atOnce('pipelined at once', 300, `${rawHead('GET', '/')}\r\n`.repeat(1900)),
  atOnce('one-byte chunks at once', 50, chunked('POST', '/graphql') + '1\r\n \r\n'.repeat(10_800)),
  {
    id: 'disconnects',
    backend: 'rest',
    run: (target) => {
      const text = rawPost(graphql('{ pets(limit: 1) { id } }'), { apiKey: target.apiKey });
      return connectRepeatedly(target, 20, (socket) => {
        socket.write(text, () => setImmediate(() => socket.resetAndDestroy()));
      });
    },
  },
];
