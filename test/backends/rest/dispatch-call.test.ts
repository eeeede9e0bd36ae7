import { connect } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import { Cancellation } from '../../../src/backends/rest/cancellation.ts';
import { dispatchCall } from '../../../src/backends/rest/dispatch-call.ts';
import { Share } from '../../../src/limits/share.ts';
import { encodeResponse, startFaultServer } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';

/** Returns the memory in use after garbage collection. */
function usedBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const maxBodyBytes = 4 * 1024 * 1024;

/** Creates a limit of the bytes of bodies, of which one key may hold three quarters. */
const limitOf = (total: number) => new Share('body_bytes', { total, perKey: total * 0.75 });

/** Starts a call whose response the test delivers. */
function startCall(bodyBytes: Share, key = 0, headers = {}) {
  const controller = {
    abort() {},
  } as unknown as Dispatcher.DispatchController;
  let handler: Dispatcher.DispatchHandler = {};
  const dispatcher = {
    dispatch: (_: unknown, one: Dispatcher.DispatchHandler) => {
      handler = one;
    },
  } as unknown as Dispatcher;
  const cancellation = new Cancellation(false, Number.POSITIVE_INFINITY);
  const options = { method: 'GET', path: '/' } as const;
  const limits = { cancellation, bodyBytes, key, maxBodyBytes, leave() {} };
  const outcome = dispatchCall(dispatcher, options, limits);
  handler.onRequestStart?.(controller, {});
  handler.onResponseStart?.(controller, 200, headers);
  return {
    outcome,
    /** Resolves to the response. */
    async response() {
      const ended = await outcome;
      if (ended.why === undefined) return ended;
      throw new Error(`Expected a response, received ${ended.why}.`);
    },
    receive: (chunk: Buffer) => handler.onResponseData?.(controller, chunk),
    end: () => handler.onResponseEnd?.(controller, {}),
  };
}

describe('the body of a response', () => {
  it('uses little more memory than its size, even in chunks of one byte', async () => {
    const sent = Buffer.from('[{"id":1}]'.repeat(50_000));
    const call = startCall(limitOf(10_000_000));
    const before = usedBytes();
    for (let index = 0; index < sent.byteLength; index++) {
      call.receive(Buffer.from(sent.subarray(index, index + 1)));
    }
    expect(usedBytes() - before).toBeLessThan(4 * sent.byteLength);
    call.end();
    expect((await call.response()).body.equals(sent)).toBe(true);
  });

  it.each([
    [[]],
    [[5]],
    [[1, 4095, 1]],
    [[4096, 1, 4095, 70_000]],
  ])('is complete if it arrives in chunks of %j bytes', async (sizes) => {
    const call = startCall(limitOf(1_000_000));
    const chunks = sizes.map((size, index) => Buffer.alloc(size, 65 + index));
    for (const chunk of chunks) call.receive(chunk);
    call.end();
    expect((await call.response()).body.equals(Buffer.concat(chunks))).toBe(true);
  });

  it('uses no more memory than its limit if it is encoded', async () => {
    const sent = gzipSync(Buffer.alloc(200_000_000));
    const bodyBytes = limitOf(10_000_000);
    const call = startCall(bodyBytes, 0, { 'content-encoding': 'gzip' });
    const before = usedBytes();
    call.receive(sent);
    call.end();
    expect(await call.outcome).toMatchObject({ why: 'invalid', status: 200 });
    expect(usedBytes() - before).toBeLessThan(4 * maxBodyBytes);
    expect(bodyBytes.used).toBe(0);
  });

  it('uses no more memory if many arrive at once', async () => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    };
    const sent = brotliCompressSync(Buffer.alloc(50_000_000), { params });
    const bodyBytes = limitOf(1_000_000_000);
    const maxRss = () => process.resourceUsage().maxRSS * 1024;
    const before = maxRss();
    const calls = Array.from({ length: 16 }, () =>
      startCall(bodyBytes, 0, { 'content-encoding': 'br' }),
    );
    for (const call of calls) {
      call.receive(sent);
      call.end();
    }
    for (const { outcome } of calls) expect(await outcome).toMatchObject({ why: 'invalid' });
    // Each decoder holds 16 MiB until its last byte is read.
    expect(maxRss() - before).toBeLessThan(100_000_000);
  });

  it('counts its decoded bytes', async () => {
    const bodyBytes = limitOf(1_000_000);
    const call = startCall(bodyBytes, 0, { 'content-encoding': 'gzip' });
    call.receive(gzipSync(Buffer.alloc(800_000)));
    call.end();
    expect(await call.outcome).toMatchObject({ why: 'noMemory' });
    expect(bodyBytes.used).toBe(0);
  });

  it('shares a limit with other bodies, and counts until the end', async () => {
    const bodyBytes = limitOf(10_000);
    const [first, second] = [startCall(bodyBytes, 0), startCall(bodyBytes, 1)];
    first.receive(Buffer.alloc(6000));
    second.receive(Buffer.alloc(5000));
    expect(await second.outcome).toMatchObject({ why: 'noMemory' });
    first.end();
    await first.response();
    expect(bodyBytes.used).toBe(0);
  });

  it('leaves a quarter of the limit to other keys', async () => {
    const bodyBytes = limitOf(10_000);
    const calls = [startCall(bodyBytes, 0), startCall(bodyBytes, 0)] as const;
    for (const call of calls) call.receive(Buffer.alloc(5000));
    expect(await calls[1].outcome).toMatchObject({ why: 'noMemory' });
    const other = startCall(bodyBytes, 1);
    other.receive(Buffer.alloc(5000));
    other.end();
    expect((await other.response()).body).toHaveLength(5000);
  });

  it('counts until it is released if it is large', async () => {
    const bodyBytes = limitOf(400_000);
    const call = startCall(bodyBytes);
    call.receive(Buffer.alloc(200_000));
    call.end();
    const { releaseBody } = await call.response();
    expect(bodyBytes.used).toBe(200_000);
    releaseBody?.();
    expect(bodyBytes.used).toBe(0);
  });
});

describe('a call', () => {
  it('is neither sent nor reported as sent if it was cancelled before', async () => {
    const cancellation = new Cancellation(true, performance.now() + 10_000);
    cancellation.cancel('deadline');
    const leave = vi.fn();
    const limits = { cancellation, bodyBytes: limitOf(100), key: 0, maxBodyBytes, leave };
    const dispatcher = new Client('http://127.0.0.1:1');
    const outcome = await dispatchCall(dispatcher, { method: 'POST', path: '/' }, limits);
    expect(outcome).toEqual({ why: 'deadline' });
    expect(leave).toHaveBeenCalledOnce();
  });

  it('is not sent if its deadline passed while it connected, even before its timer fires', async () => {
    let isAborted = false;
    const controller = {
      abort: () => {
        isAborted = true;
      },
    } as unknown as Dispatcher.DispatchController;
    const deadlineAt = performance.now() + 1;
    const cancellation = new Cancellation(false, deadlineAt);
    const dispatcher = {
      dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
        while (performance.now() < deadlineAt);
        handler.onRequestStart?.(controller, {});
      },
    } as unknown as Dispatcher;
    const leave = vi.fn();
    const limits = { cancellation, bodyBytes: limitOf(100), key: 0, maxBodyBytes, leave };
    const outcome = await dispatchCall(dispatcher, { method: 'POST', path: '/' }, limits);
    expect(outcome).toEqual({ why: 'deadline' });
    expect([isAborted, cancellation.timesSent]).toEqual([true, 0]);
    expect(leave).toHaveBeenCalledOnce();
  });

  it.each([
    'opens',
    'fails',
  ])('that is cancelled while it connects has its place until the connection %s', async (end) => {
    await using service = await startFaultServer((socket) => socket.end());
    let connected: buildConnector.Callback | undefined;
    const client = new Client(service.url, {
      connect: (_, callback) => {
        connected = callback;
      },
    });
    const cancellation = new Cancellation(true, performance.now() + 10_000);
    const leave = vi.fn();
    const limits = { cancellation, bodyBytes: limitOf(100), key: 0, maxBodyBytes, leave };
    const outcome = dispatchCall(client, { method: 'POST', path: '/' }, limits);
    await vi.waitFor(() => expect(connected).toBeDefined());
    cancellation.cancel('client');
    expect(await outcome).toEqual({ why: 'clientLeft' });
    expect(leave).not.toHaveBeenCalled();
    if (end === 'opens') connected?.(null, connect(service.port, '127.0.0.1'));
    else connected?.(new Error('refused'), null);
    await vi.waitFor(() => expect(leave).toHaveBeenCalledOnce());
    await client.close();
    expect(leave).toHaveBeenCalledOnce();
    expect(service.attempts()).toBe(0);
  });
});

describe('oversized responses', () => {
  async function listWith(body: string) {
    await using rest = await startRest((socket) => socket.write(encodeResponse('200 OK', body)));
    return await rest.list();
  }
  const pet = (name: string) => JSON.stringify({ id: 1, name, categoryId: 1 });

  it.each([
    [
      'more animals than fit on a page',
      `[${Array(101).fill(pet('Rex')).join()}]`,
      'at most 100 animals',
    ],
    ['a million empty values', `[${Array(1_000_000).fill('[]').join()}]`, '250000 JSON values'],
    [
      'a long number and a million others',
      `[1234567890123456789${',0'.repeat(1_000_000)}]`,
      '250000 JSON',
    ],
    ['a body beyond 4 MiB', `["${'x'.repeat(5_000_000)}"]`, 'expected a smaller body'],
  ])('are rejected: %s', async (_, body, message) => {
    await expect(listWith(body)).rejects.toThrow(message);
  });

  it('do not include a page of a hundred long names', async () => {
    const name = `é,[{${'\\u0001'.repeat(1000)}`;
    expect(await listWith(`[${Array(100).fill(pet(name)).join()}]`)).toHaveLength(100);
  });
});
