import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { callWith } from '../support/gateway.ts';
import { type SeenRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { fail, openWriter, rex } from '../support/writes.ts';

type Respond = (response: ServerResponse, count: number, request: SeenRequest) => void;
type Writer = Awaited<ReturnType<typeof openWriter>>;

/** Responds to a write that has added a pet. */
export const added = (response: ServerResponse, id: number | string = 1, status = '"sold"') =>
  sendJson(response, 201, `{"id":${id},"name":"Rex","categoryId":1,"status":${status}}`);

/** Starts a REST service, which holds its responses until the test sends them unless it has `respond`. */
export async function startWrites(
  respond?: Respond,
  common: Readonly<Record<string, string>> = {},
) {
  const held: ServerResponse[] = [];
  const stack = new AsyncDisposableStack();
  const upstream = stack.use(
    await startUpstream((request, response) =>
      respond ? respond(response, upstream.seen.length, request) : held.push(response),
    ),
  );
  return {
    stack,
    url: upstream.url,
    held,
    calls: () => upstream.seen.length,
    methods: () => upstream.seen.map(({ method }) => method),
    /** Opens the pet store of a gateway before the service. */
    open: async (env = {}) => stack.use(await openWriter(upstream.url, { ...common, ...env })),
    /** Waits for the next request that is held. */
    async next() {
      await vi.waitFor(() => expect(held).not.toHaveLength(0));
      return held.shift() as ServerResponse;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A service, and two gateways before it, which share a store of writes, or one that is both. */
interface OpenedWrites extends Omit<Awaited<ReturnType<typeof startWrites>>, 'open'> {
  readonly gateways: readonly [Writer, Writer];
}

/** Tests what is remembered of writes with a key, for any `WriteStore`. */
export function describeWriteStore(
  name: string,
  open: (respond?: Respond, env?: Readonly<Record<string, string>>) => Promise<OpenedWrites>,
): void {
  describe(`a write with a key, kept in ${name}`, () => {
    it('is not called again after its success, and has the same result', async () => {
      await using service = await open((response) =>
        added(response, '9223372036854775807', '"new"'),
      );
      const [first, second] = service.gateways;
      const pet = await first.add('k');
      const again = callWith();
      expect(await second.add('k', again)).toEqual(pet);
      expect(pet).toMatchObject({ id: '9223372036854775807', status: expect.any(Error) });
      expect([service.calls(), again.isReplayed]).toEqual([1, true]);
    });

    const retryLater = (response: ServerResponse) =>
      sendJson(response.setHeader('retry-after', '7'), 503, '{}');
    const unreadable = (response: ServerResponse) =>
      void response.writeHead(201, { 'content-encoding': 'x' }).end('x');
    const unknown = { writeOutcome: 'UNKNOWN' };
    const done = { writeOutcome: 'DONE' };

    it.each<[string, Respond, object]>([
      ['500', (response) => sendJson(response, 500, '{}'), { status: 500, ...unknown }],
      ['a status with Retry-After', retryLater, { status: 503, retryAfterMs: 7000 }],
      ['303', (response) => sendJson(response, 303, '{}'), { status: 303, ...unknown }],
      ['a lost connection', (response) => response.destroy(), unknown],
      ['a body that breaks the contract', (response) => sendJson(response, 201, '{}'), done],
      ['an encoding that is not known', unreadable, done],
      ['no response in time', () => {}, { name: 'BackendTimeoutError', ...unknown }],
    ])('has the same error again after %s, without a call', async (what, respond, error) => {
      const isLate = what === 'no response in time';
      await using service = await open(respond, isLate ? { UPSTREAM_TIMEOUT_MS: '300' } : {});
      const [first, second] = service.gateways;
      const failed = await fail(first.add('k'));
      expect(failed).toMatchObject(error);
      const again = callWith();
      const repeated = await fail(second.add('k', again));
      // The cause is for the log only.
      expect({ ...repeated, message: repeated.message }).toEqual({
        ...failed,
        message: failed.message,
      });
      expect(repeated.constructor).toBe(failed.constructor);
      expect([service.calls(), again.isReplayed]).toEqual([1, true]);
    });

    it('is a new attempt after it was refused', async () => {
      const refusal = '{"code":"x","message":"No.","status":409}';
      await using service = await open((response, count) =>
        count === 1 ? sendJson(response, 409, refusal) : added(response),
      );
      const [first, second] = service.gateways;
      expect(await fail(first.add('k'))).toMatchObject({ status: 409, writeOutcome: 'NOT_DONE' });
      const again = callWith();
      expect(await second.add('k', again)).toMatchObject({ id: '1' });
      expect([service.calls(), again.isReplayed]).toEqual([2, false]);
    });

    it('is made once by 200 at the same time', async () => {
      await using service = await open();
      const callers = Array.from({ length: 200 }, () => callWith());
      const all = callers.map((caller, index) => service.gateways[index % 2]?.add('k', caller));
      added(await service.next(), 7);
      for (const pet of await Promise.all(all)) expect(pet?.id).toBe('7');
      expect(service.calls()).toBe(1);
      expect(callers.filter(({ isReplayed }) => isReplayed)).toHaveLength(199);
    });

    it('is refused with other parameters, in flight and afterwards, beside the same', async () => {
      await using service = await open();
      const [first, second] = service.gateways;
      const made = first.add('k');
      const response = await service.next();
      const reused = { name: 'IdempotencyKeyReusedError', writeOutcome: 'NOT_DONE' };
      const other = () => fail(second.add('k', callWith(), { ...rex, name: 'Tom' }));
      expect(await other()).toMatchObject(reused);
      added(response);
      const pet = await made;
      const refused = other();
      expect(await second.add('k')).toEqual(pet);
      expect(await refused).toMatchObject(reused);
      expect(service.calls()).toBe(1);
    });

    it('shares nothing with another API key or another key', async () => {
      await using service = await open((response, count) => added(response, count));
      const [first, second] = service.gateways;
      const pets = await Promise.all([
        first.add('k', callWith('a')),
        second.add('k', callWith('b')),
        second.add('l', callWith('a')),
        second.add(undefined, callWith('a')),
        second.add(undefined, callWith('a')),
      ]);
      expect(pets.map(({ id }) => id).sort()).toEqual(['1', '2', '3', '4', '5']);
    });

    it('outlives the deadline of the first caller, and its outcome is kept', async () => {
      await using service = await open();
      const [first, second] = service.gateways;
      const late = callWith();
      const made = fail(first.add('k', late));
      const response = await service.next();
      const waiting = second.add('k');
      const impatient = callWith();
      impatient.setDeadline(50);
      const timedOut = { name: 'BackendTimeoutError', writeOutcome: 'UNKNOWN' };
      expect(await fail(second.add('k', impatient))).toMatchObject(timedOut);
      late.cancel('deadline');
      expect(await made).toMatchObject(timedOut);
      added(response);
      expect(await waiting).toMatchObject({ id: '1' });
      expect(await first.add('k')).toMatchObject({ id: '1' });
      expect(service.calls()).toBe(1);
    });
  });
}
