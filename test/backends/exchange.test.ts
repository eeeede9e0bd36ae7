import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { BodyBudget } from '../../src/backends/rest/body-budget.ts';
import { exchange } from '../../src/backends/rest/exchange.ts';
import { openRestPetStore } from '../../src/backends/rest/pet-store.ts';
import { answer, startFaultServer } from '../support/fault-server.ts';
import { callWith } from '../support/gateway.ts';
import { quiet } from '../support/log.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What the process holds on to. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A call whose answer arrives by hand. */
function startCall(budget: BodyBudget, place = 0) {
  const controller = { abort() {} } as unknown as Dispatcher.DispatchController;
  let handler: Dispatcher.DispatchHandler = {};
  const dispatcher = {
    dispatch: (_: unknown, one: Dispatcher.DispatchHandler) => {
      handler = one;
    },
  } as unknown as Dispatcher;
  const cancellation = { reason: undefined, onCancel: undefined };
  const options = { method: 'GET', path: '/' } as const;
  const response = exchange(dispatcher, options, cancellation, budget, place);
  handler.onRequestStart?.(controller, {});
  handler.onResponseStart?.(controller, 200, {});
  return {
    response,
    receive: (chunk: Buffer) => handler.onResponseData?.(controller, chunk),
    end: () => handler.onResponseEnd?.(controller, {}),
  };
}

describe('the body of an answer', () => {
  it('costs its bytes, in chunks of one byte too', async () => {
    const sent = Buffer.from('[{"id":1}]'.repeat(50_000));
    const call = startCall(new BodyBudget(10_000_000));
    const before = heldBytes();
    for (let index = 0; index < sent.byteLength; index++) {
      call.receive(Buffer.from(sent.subarray(index, index + 1)));
    }
    expect(heldBytes() - before).toBeLessThan(4 * sent.byteLength);
    call.end();
    expect((await call.response).body.equals(sent)).toBe(true);
  });

  it.each([
    [[]],
    [[5]],
    [[1, 4095, 1]],
    [[4096, 1, 4095, 70_000]],
  ])('arrives whole in chunks of %j bytes', async (sizes) => {
    const call = startCall(new BodyBudget(1_000_000));
    const chunks = sizes.map((size, index) => Buffer.alloc(size, 65 + index));
    for (const chunk of chunks) call.receive(chunk);
    call.end();
    expect((await call.response).body.equals(Buffer.concat(chunks))).toBe(true);
  });

  it('shares a budget with all that arrive, and gives its part back', async () => {
    const budget = new BodyBudget(10_000);
    const [first, second] = [startCall(budget, 0), startCall(budget, 1)];
    first.receive(Buffer.alloc(6000));
    second.receive(Buffer.alloc(5000));
    await expect(second.response).rejects.toMatchObject({ name: 'BodyBudgetExceeded' });
    first.end();
    await first.response;
    expect(budget.take(0, 5000)).toBe(true);
    expect(budget.take(1, 5000)).toBe(true);
  });

  it('of one key leaves a quarter of the budget to others', async () => {
    const budget = new BodyBudget(10_000);
    const calls = [startCall(budget, 0), startCall(budget, 0)] as const;
    for (const call of calls) call.receive(Buffer.alloc(5000));
    await expect(calls[1].response).rejects.toMatchObject({ name: 'BodyBudgetExceeded' });
    const other = startCall(budget, 1);
    other.receive(Buffer.alloc(5000));
    other.end();
    expect((await other.response).body).toHaveLength(5000);
  });

  it('counts until it is given back, when it is large', async () => {
    const budget = new BodyBudget(400_000);
    const call = startCall(budget);
    call.receive(Buffer.alloc(200_000));
    call.end();
    const { giveBack } = await call.response;
    expect(budget.take(0, 200_000)).toBe(false);
    giveBack?.();
    expect(budget.take(0, 200_000)).toBe(true);
  });
});

describe('answers that cost more than they are worth', () => {
  async function listWith(body: string) {
    await using server = await startFaultServer((socket) => socket.write(answer('200 OK', body)));
    await using petStore = openRestPetStore(
      { baseUrl: new URL(server.url), messagesBaseUrl: undefined, timeoutMs: 10_000 },
      quiet,
    );
    return await petStore.listPets(callWith(), {});
  }
  const pet = (name: string) => JSON.stringify({ id: 1, name, categoryId: 1 });

  it.each([
    [
      'more animals than a page has',
      `[${Array(101).fill(pet('Rex')).join()}]`,
      'at most 100 animals',
    ],
    ['a million empty values', `[${Array(1_000_000).fill('[]').join()}]`, '250000 JSON values'],
    ['long numbers beside many', `[1234567890123456789${',0'.repeat(1_000_000)}]`, '250000 JSON'],
    ['a body beyond 4 MiB', `["${'x'.repeat(5_000_000)}"]`, 'expected a smaller one'],
  ])('are refused: %s', async (_, body, message) => {
    await expect(listWith(body)).rejects.toThrow(message);
  });

  it('are not a page of a hundred long names', async () => {
    const name = `é,[{${'\\u0001'.repeat(1000)}`;
    expect(await listWith(`[${Array(100).fill(pet(name)).join()}]`)).toHaveLength(100);
  });
});
