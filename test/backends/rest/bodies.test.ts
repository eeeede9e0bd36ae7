import type { Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { Telemetry } from '../../../src/telemetry/telemetry.ts';
import { encodeResponse, startFaultServer } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { openTelemetry } from '../../support/log.ts';
import { valuesOf } from '../../support/metrics.ts';
import { openRest } from '../../support/rest-gateway.ts';

/** A list of `bytes` bytes, of which the last one is missing. */
const partOf = (bytes: number) =>
  encodeResponse('200 OK', `[${' '.repeat(bytes - 2)}`, [`Content-Length: ${bytes}`]);
const noMemory = {
  message: expect.stringContaining('too large together'),
  retryAfterMs: 1000,
};
const maxRss = () => process.resourceUsage().maxRSS * 1024;

/** Returns the memory in use after garbage collection. */
function usedBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Waits until bodies use this much of their limit. */
const hasReceived = ({ metrics }: Pick<Telemetry, 'metrics'>, bytes: number) =>
  vi.waitFor(async () => {
    const used = await valuesOf(metrics, 'petstore_limit_used', 'limit');
    expect(used).toMatchObject({ pets_response_bytes: bytes });
  });

describe('the bodies of responses', () => {
  it('use little more memory than their size, even in chunks of one byte', async () => {
    const bytes = 500_000;
    const head = encodeResponse('200 OK', '1\r\n[\r\n', ['Transfer-Encoding: chunked']);
    const spaces = Buffer.from('1\r\n \r\n'.repeat(bytes - 1));
    const { promise: held, resolve } = Promise.withResolvers<Socket>();
    await using rest = await startRest(resolve);
    const list = rest.list();
    const socket = await held;
    socket.write(head);
    await hasReceived(rest, 1);
    const before = usedBytes();
    socket.write(spaces);
    await hasReceived(rest, bytes);
    expect(usedBytes() - before).toBeLessThan(10 * bytes);
    socket.write('1\r\n]\r\n0\r\n\r\n');
    expect(await list).toEqual([]);
  });

  it('share a limit until the requests end, of which one key may use three quarters', async () => {
    const held: Socket[] = [];
    const respond = (socket: Socket) => held.push(socket) && socket.write(partOf(500_000));
    await using rest = await startRest(respond, { maxBufferedBytes: 1_000_000 });
    const callers = [callWith('a'), callWith('b')] as const;
    const first = rest.petStore.listPets(callers[0], {});
    await hasReceived(rest, 499_999);
    await expect(rest.list('a')).rejects.toMatchObject(noMemory);
    const other = rest.petStore.listPets(callers[1], {});
    await hasReceived(rest, 999_998);
    await expect(rest.list('c')).rejects.toMatchObject(noMemory);
    for (const socket of held) if (!socket.destroyed) socket.write(']');
    expect([[...(await first)], [...(await other)]]).toEqual([[], []]);
    await hasReceived(rest, 1_000_000);
    for (const caller of callers) caller.end();
    expect(await valuesOf(rest.metrics, 'petstore_limit_used', 'limit')).toEqual({});
  });

  it('count for a caller that joined the call when the one that started it has left', async () => {
    const list = encodeResponse('200 OK', `[${' '.repeat(99_998)}]`);
    await using server = await startFaultServer((socket) => socket.write(list));
    const telemetry = openTelemetry();
    await using petStore = openRest(server.url, { shareReads: true }, telemetry);
    const [starter, other] = [callWith(), callWith()] as const;
    const left = expect(petStore.listPets(starter, {})).rejects.toThrow();
    const joined = petStore.listPets(other, {});
    starter.cancel();
    await left;
    starter.end();
    await joined;
    await hasReceived(telemetry, 100_000);
  });

  it('count with their decoded bytes', async () => {
    const body = gzipSync(`[${' '.repeat(800_000)}]`);
    const gzip = encodeResponse('200 OK', body, ['Content-Encoding: gzip']);
    const limits = { maxBufferedBytes: 1_000_000 };
    await using rest = await startRest((socket) => socket.write(gzip), limits);
    await expect(rest.list()).rejects.toMatchObject(noMemory);
  });

  it('are decoded one at a time, so that many need no more memory', async () => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: 1,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    };
    const body = brotliCompressSync(Buffer.alloc(20_000_000), { params });
    const brotli = encodeResponse('200 OK', body, ['Content-Encoding: br']);
    const held: Socket[] = [];
    await using rest = await startRest((socket) => {
      held.push(socket);
      if (held.length < 16) return;
      for (const one of held) one.write(brotli);
    });
    const before = maxRss();
    const lists = Array.from({ length: 16 }, (_, index) => rest.list(`k${index}`));
    for (const list of lists) await expect(list).rejects.toThrow('expected a smaller body');
    // Each decoder holds 16 MiB until its last byte is read.
    expect(maxRss() - before).toBeLessThan(100_000_000);
  });
});
