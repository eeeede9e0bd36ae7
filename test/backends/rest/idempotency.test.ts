import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/request/scope.ts';
import { callWith } from '../../support/gateway.ts';
import { type Handling, startIdempotentService } from '../../support/idempotent-service.ts';
import { sendJson } from '../../support/upstream.ts';
import { fail, openWriter, rex } from '../../support/writes.ts';

/** Opens a service that honours the header, and pet stores that call it. */
async function start(handle: Parameters<typeof startIdempotentService>[0], isOn = true) {
  const stack = new AsyncDisposableStack();
  const service = stack.use(await startIdempotentService(handle));
  const UPSTREAM_IDEMPOTENCY = isOn ? 'on' : 'off';
  async function open(timeoutMs = 2000) {
    const env = { UPSTREAM_IDEMPOTENCY, UPSTREAM_TIMEOUT_MS: `${timeoutMs}` };
    const { keys, add } = stack.use(await openWriter(service.url, env));
    return (name: string, key?: string, caller = callWith(undefined, undefined, keys)) =>
      add(key, caller, { ...rex, name });
  }
  return {
    ...service,
    open,
    add: await open(),
    sent: () => service.seen.map(({ headers }) => headers['idempotency-key']),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const status = (code: number) => (response: ServerResponse) => sendJson(response, code, '{}');
const lose = (response: ServerResponse) => response.destroy();
const once = (first: Handling) => (_: unknown, attempt: number) => (attempt === 1 ? first : {});

describe('a write to a service that honours Idempotency-Key', () => {
  it.each<[string, Handling]>([
    ['lost before the service has it', { drop: true }],
    ['lost when the service has it', { respond: lose }],
    ['answered with 503 when it was done', { respond: status(503) }],
  ])('is repeated by the gateway if it is %s', async (_, first) => {
    await using service = await start(once(first));
    expect(await service.add('Rex')).toMatchObject({ id: '1' });
    expect(await service.add('Tom', 'k')).toMatchObject({ id: '2' });
    expect(service.pets).toHaveLength(2);
    const [one, oneAgain, two, twoAgain] = service.sent();
    expect(one).toMatch(/^"[\w-]{36}"$/);
    expect(two).toMatch(/^"[\w-]{43}"$/);
    expect([oneAgain, twoAgain]).toEqual([one, two]);
    await using off = await start(once(first), false);
    expect(await fail(off.add('Rex', 'k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(off.sent()).toEqual([undefined]);
  });

  it.each<[string, (first: Scope) => void]>([
    ['was late', (first) => first.cancel('deadline')],
    ['will be late soon', (first) => first.setDeadline(performance.now() - first.startedAt + 20)],
  ])('is repeated by the gateway for those who still wait when its first caller %s', async (_, end) => {
    const sent: ServerResponse[] = [];
    await using service = await start(once({ respond: (response) => sent.push(response) }));
    const late = callWith();
    const first = fail(service.add('Rex', 'k', late));
    const second = service.add('Rex', 'k');
    await expect.poll(() => sent.length).toBe(1);
    end(late);
    sendJson((sent[0] as ServerResponse).setHeader('retry-after', '1'), 503, '{}');
    expect(await first).toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(await second).toMatchObject({ id: '1' });
    expect([service.pets.length, service.seen.length]).toEqual([1, 2]);
  });

  it('is not repeated if its caller was late and nobody else can wait for it', async () => {
    const sent: ServerResponse[] = [];
    await using service = await start(once({ respond: (response) => sent.push(response) }));
    const late = callWith();
    const first = fail(service.add('Rex', undefined, late));
    await expect.poll(() => sent.length).toBe(1);
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    Object.assign(late.calls[0] ?? {}, { onEnd: resolve });
    late.cancel('deadline');
    expect(await first).toMatchObject({ writeOutcome: 'UNKNOWN' });
    sent[0]?.destroy();
    expect(await ended).toBeInstanceOf(Error);
    expect(service.seen).toHaveLength(1);
  });

  it.each([409, 422, 429, 401])('stays unknown if the repetition gets %i', async (code) => {
    const responses = [lose, status(code)];
    await using service = await start(() => ({ respond: responses.shift() }));
    const error = { name: 'BackendUnavailableError', writeOutcome: 'UNKNOWN' };
    expect(await fail(service.add('Rex'))).toMatchObject(error);
    expect(service.seen).toHaveLength(2);
  });

  it('is sent again by its client, which gets what it did', async () => {
    const responses = [lose, lose, status(429), lose, lose];
    await using service = await start(() => ({ respond: responses.shift() }));
    expect(await fail(service.add('Rex', 'k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    // The first may have done it.
    const limited = { status: 429, writeOutcome: 'UNKNOWN' };
    expect(await fail(service.add('Rex', 'k'))).toMatchObject(limited);
    expect(await fail(service.add('Rex', 'k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(await service.add('Rex', 'k')).toMatchObject({ id: '1' });
    const { length } = service.seen;
    expect(await service.add('Rex', 'k')).toMatchObject({ id: '1' });
    expect(service.seen).toHaveLength(length);
    expect(service.pets).toHaveLength(1);
    expect(new Set(service.sent()).size).toBe(1);
  });

  it('is not sent with the key of another whose outcome is unknown', async () => {
    await using service = await start(() => ({ respond: lose }));
    expect(await fail(service.add('Rex', 'k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    const { length } = service.seen;
    expect(await fail(service.add('Tom', 'k'))).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(service.seen).toHaveLength(length);
  });

  it('is asked for again while the service is at it for another gateway, until the deadline', async () => {
    const { promise: until, resolve } = Promise.withResolvers<void>();
    await using service = await start(() => ({ until }));
    // Its own deadline may pass.
    const first = service.add('Rex', 'k').catch(() => {});
    await expect.poll(() => service.seen.length).toBe(1);
    const add = await service.open();
    const late = callWith();
    late.setDeadline(300);
    const conflict = { status: 409, writeOutcome: 'UNKNOWN' };
    expect(await fail(add('Rex', 'k', late))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(await fail(add('Rex', 'k'))).toMatchObject(conflict);
    const again = add('Rex', 'k');
    const { length } = service.seen;
    // A few requests in two seconds.
    expect(length).toBeGreaterThan(4);
    expect(length).toBeLessThan(60);
    await expect.poll(() => service.seen.length).toBeGreaterThan(length + 1);
    resolve();
    expect(await again).toMatchObject({ id: '1' });
    await first;
    expect(service.pets).toHaveLength(1);
  });

  it('stays unknown if the service is at it, and then responds 429 or 401', async () => {
    for (const code of [429, 401]) {
      const responses = [status(409), status(code)];
      await using service = await start(() => ({ respond: responses.shift() }));
      const conflict = { status: 409, writeOutcome: 'UNKNOWN' };
      expect(await fail(service.add('Rex', 'k'))).toMatchObject(conflict);
    }
  });

  it('is asked for again as soon as the service says', async () => {
    const conflict = (response: ServerResponse) =>
      sendJson(response.setHeader('retry-after', '1'), 409, '{}');
    await using service = await start((_, attempt) => (attempt < 3 ? { respond: conflict } : {}));
    const add = await service.open(2900);
    expect(await add('Rex', 'k')).toMatchObject({ id: '1' });
  });

  it('is refused by the name of the reason if the service knows its key for other values', async () => {
    await using service = await start(() => ({}));
    await service.add('Rex', 'k');
    const reused = { code: 'IDEMPOTENCY_KEY_REUSED', writeOutcome: 'NOT_DONE' };
    expect(await fail((await service.open())('Tom', 'k'))).toMatchObject(reused);
    await using other = await start(() => ({ respond: status(422) }));
    const invalid = { code: 'BAD_USER_INPUT', status: 422, writeOutcome: 'NOT_DONE' };
    expect(await fail(other.add('Rex', 'k'))).toMatchObject(invalid);
    const quoting = '{"code":"x","message":"name: expected no idempotent pet.","status":422}';
    await using third = await start(() => ({ respond: (one) => sendJson(one, 422, quoting) }));
    expect(await fail(third.add('Rex', 'k'))).toMatchObject(invalid);
  });

  it('stays unknown if its repetition is refused as one with other values', async () => {
    const refused = '{"code":"idempotency","message":"No.","status":422}';
    const responses = [lose, lose, (one: ServerResponse) => sendJson(one, 422, refused)];
    await using service = await start(() => ({ respond: responses.shift() }));
    expect(await fail(service.add('Rex', 'k'))).toMatchObject({ writeOutcome: 'UNKNOWN' });
    const unknown = { code: 'IDEMPOTENCY_KEY_REUSED', writeOutcome: 'UNKNOWN' };
    expect(await fail(service.add('Rex', 'k'))).toMatchObject(unknown);
  });

  it('has another key for each API key', async () => {
    await using service = await start(() => ({}));
    await service.add('Rex', 'k', callWith('one'));
    await service.add('Rex', 'k', callWith('two'));
    const [one, two] = service.sent();
    expect(one).not.toBe(two);
  });

  it.each<[string, Handling, string[]]>([
    ['pets', { drop: true }, ['pets', 'pets', 'messages']],
    ['messages', { drop: true }, ['pets', 'messages', 'messages']],
  ])('is repeated only by the service of UPSTREAM_IDEMPOTENCY=%s', async (honouring, lost, calls) => {
    await using service = await startIdempotentService(() => lost);
    const env = { MESSAGES_BASE_URL: `${service.url}/v1`, UPSTREAM_IDEMPOTENCY: honouring };
    await using gateway = await openWriter(service.url, env);
    await fail(gateway.add(undefined));
    await fail(gateway.petStore.sendMessage(callWith(), 'Hello.'));
    expect(service.seen.map(({ url }) => url)).toEqual(calls.map((name) => `/v1/${name}`));
    const carried = service.seen.map(({ headers }) => headers['idempotency-key'] !== undefined);
    expect(carried).toEqual(calls.map((name) => name === honouring));
  });
});
