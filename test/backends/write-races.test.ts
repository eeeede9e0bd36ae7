import { ErrorReply } from '@redis/client';
import fc, { type Scheduler } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceCall, WriteKey } from '../../src/contract/caller.ts';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  CancelledError,
  ErrorResponse,
} from '../../src/contract/error.ts';
import { writeKeyOf } from '../../src/contract/idempotency.ts';
import type { KeyedCaller } from '../../src/keys/api-key.ts';
import { contract, type PetStore } from '../../src/petstore/operations.ts';
import type { NewPet, Pet } from '../../src/petstore/records.ts';
import { keepWrites, scripts } from '../../src/writes/redis.ts';
import { rememberWrites } from '../../src/writes/remembered-writes.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { compileScript } from './redis-scripts.ts';

const pet: NewPet = { name: 'Rex', categoryId: '1' };
const write = writeKeyOf({ idempotencyKey: 'k' }, 'addPet', 'createPet', pet) as WriteKey;

/** Deadline of a call, in milliseconds. */
const callMs = 2000;
/** When a gateway replaces the connection to a Redis that is silent, and when it gives up a script. */
const redisMs = { silent: 900, late: 1000 };

const run = { begin: compileScript(scripts.begin), end: compileScript(scripts.end) };

type Fault = 'none' | 'lost before' | 'lost after' | 'refused' | 'silent';

/** What happens besides the presses and the steps that follow from them. */
type Event =
  | { readonly kind: 'freeze' | 'thaw' | 'fill' | 'empty' }
  | { readonly kind: 'crash' | 'press'; readonly gateway: number }
  | { readonly kind: 'leave' | 'deadline'; readonly press: number }
  | { readonly kind: 'time'; readonly ms: number };

interface Plan {
  /** One after the other, each with what follows from it. */
  readonly first: readonly Event[];
  /** In any order. */
  readonly events: readonly Event[];
  readonly faults: readonly Fault[];
  /** Whether the service honours the key, and which gateways therefore send it. */
  readonly honours: boolean;
  readonly carries: readonly boolean[];
}

/** Generates events of these kinds, with more about each. */
const eventOf = <Kind extends Event['kind'], More extends object>(
  weight: number,
  kinds: readonly Kind[],
  more: { [Name in keyof More]: fc.Arbitrary<More[Name]> },
) => ({ weight, arbitrary: fc.record({ kind: fc.constantFrom(...kinds), ...more }) });

const gateway = fc.nat(1);
const anyEvent = fc.oneof(
  eventOf(4, ['press'], { gateway }),
  eventOf(3, ['time'], { ms: fc.constantFrom(30, 700, 1000, 2500, 21_000) }),
  eventOf(2, ['freeze', 'thaw', 'fill', 'fill', 'empty'], {}),
  eventOf(2, ['crash'], { gateway }),
  eventOf(2, ['leave', 'deadline'], { press: fc.nat(2) }),
) as fc.Arbitrary<Event>;
const anyFault = fc.constantFrom<Fault>('none', 'lost before', 'lost after', 'refused', 'silent');

const plans = fc.record<Plan>({
  first: fc.array(anyEvent, { maxLength: 5 }),
  events: fc.array(anyEvent, { minLength: 2, maxLength: 8 }),
  faults: fc.array(anyFault, { maxLength: 3 }),
  honours: fc.boolean(),
  carries: fc.tuple(fc.boolean(), fc.boolean()),
});

/** The Redis of all gateways, which runs the real scripts. */
class Redis {
  readonly writes = new Map<string, Map<string, string>>();
  isFull = false;
  thawed = Promise.withResolvers<void>();
  isFrozen = false;

  constructor() {
    this.thawed.resolve();
  }

  execute(script: 'begin' | 'end', key: string, values: readonly string[]): unknown[] {
    return run[script](key, values, (name, ...args) => {
      const us = Math.floor(performance.now() * 1000);
      if (name === 'TIME') return [String(1e9 + Math.floor(us / 1e6)), String(us % 1e6)];
      const fields = this.writes.get(key) ?? new Map<string, string>();
      const [, ...rest] = args;
      if (name === 'HMGET') return rest.map((field) => fields.get(field) ?? false);
      if (name === 'DEL') this.writes.delete(key);
      if (name !== 'HSET') return [];
      if (this.isFull) throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
      for (let index = 0; index < rest.length; index += 2) {
        fields.set(rest[index] ?? '', rest[index + 1] ?? '');
      }
      this.writes.set(key, fields);
      return [];
    });
  }
}

interface Call extends ServiceCall {
  outcome: string | undefined;
  readonly press: Press;
  sentAt: number;
  endedAt: number;
}

interface Press {
  readonly caller: KeyedCaller & { cancelled: Error | undefined; end(): void };
  readonly gateway: Gateway;
  readonly startedAt: number;
  endedAt: number;
  outcome?: string;
  error?: Error;
  pet?: Pet;
}

interface Gateway {
  readonly carriesKey: boolean;
  isCrashed: boolean;
  isConnected: boolean;
  /** Scripts arrive in their order on each connection. */
  line: Promise<unknown>;
  readonly broken: Set<(error: Error) => void>;
  petStore?: PetStore<KeyedCaller>;
}

/** Two gateways, their Redis and their service, whose steps come in the order of a scheduler. */
class World {
  readonly redis = new Redis();
  readonly presses: Press[] = [];
  readonly calls: Call[] = [];
  /** What the service has stored: by which call. */
  readonly stored: { readonly call: Call; readonly at: number }[] = [];
  readonly known = new Map<string, Pet>();
  hasCrashed = false;
  step = 0;
  readonly #faults: Fault[];
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #gateways: Gateway[];

  constructor(scheduler: Scheduler, plan: Plan) {
    this.#scheduler = scheduler;
    this.#plan = plan;
    this.#faults = [...plan.faults];
    this.#gateways = [0, 1].map((index) => this.#open(index));
  }

  async #next(label: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), label);
    this.step++;
  }

  #open(index: number): Gateway {
    const opened: Gateway = {
      carriesKey: this.#plan.honours && this.#plan.carries[index] === true,
      isCrashed: false,
      isConnected: !this.redis.isFrozen,
      line: Promise.resolve(),
      broken: new Set(),
    };
    const connection = {
      isConnected: () => opened.isConnected,
      run: (script: string, key: string, ...values: string[]) =>
        this.#run(opened, script as 'begin', key, values),
      [Symbol.dispose]() {},
    };
    const kept = keepWrites(connection, callMs);
    const { carriesKey } = opened;
    const service = { url: 'http://service/v1', carriesKey };
    const others = {} as PetStore<KeyedCaller>;
    const createPet = (caller: KeyedCaller, _: NewPet, key?: WriteKey) =>
      this.#call(opened, caller, key);
    opened.petStore = rememberWrites(
      contract,
      { ...others, createPet, listPets: async () => [] },
      kept,
      {
        pets: service,
        messages: service,
      },
    );
    return opened;
  }

  #run(by: Gateway, script: 'begin' | 'end', key: string, values: string[]): Promise<unknown> {
    if (by.isCrashed) return new Promise(() => {});
    if (!by.isConnected) return Promise.reject(new Error('no connection'));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const execute = async () => {
      await this.#next(`Redis gets ${script}`);
      await this.redis.thawed.promise;
      let reply: unknown;
      let failure: Error | undefined;
      try {
        reply = this.redis.execute(script, key, values);
      } catch (error) {
        failure = new ErrorReply((error as Error).message);
      }
      void this.#next(`the reply to ${script}`).then(() => {
        if (by.isCrashed) return;
        if (failure) reject(failure);
        else resolve(reply);
      });
    };
    by.line = by.line.then(execute);
    by.broken.add(reject);
    setTimeout(() => reject(new Error('late')), redisMs.late);
    return promise.finally(() => by.broken.delete(reject));
  }

  #call(by: Gateway, caller: KeyedCaller, key: WriteKey | undefined): Promise<Pet> {
    const { promise, resolve, reject } = Promise.withResolvers<Pet>();
    const press = this.presses.find((one) => one.caller === caller) as Press;
    let isSent = false;
    const end = (result: Pet | Error, label: string) => {
      if (call.outcome !== undefined || by.isCrashed) return;
      call.outcome = label;
      call.endedAt = this.step;
      call.onEnd?.(result);
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    const call: Call = {
      operation: 'createPet',
      caller,
      press,
      outcome: undefined,
      startedAt: performance.now(),
      ...{ sentAt: Number.POSITIVE_INFINITY, endedAt: Number.POSITIVE_INFINITY },
      ...{ ms: 0, status: null, bytes: 0, retries: 0, onEnd: undefined },
      cancel(left) {
        const { cancelled } = left as Press['caller'];
        if (!isSent) end(cancelled as Error, 'cancelled');
        else if (cancelled instanceof BackendTimeoutError) reject(new BackendTimeoutError('Late.'));
      },
    };
    this.calls.push(call);
    caller.calls.push(call);
    if (caller.cancelled) end(caller.cancelled, 'cancelled');
    setTimeout(() => {
      const writeOutcome = isSent ? 'UNKNOWN' : 'NOT_DONE';
      end(new BackendTimeoutError('Late.', { writeOutcome }), 'timeout');
    }, callMs);
    const make = async () => {
      await this.#next('the call is sent');
      if (call.outcome !== undefined || by.isCrashed) return;
      isSent = true;
      call.sentAt = this.step;
      const fault = this.#faults.shift() ?? 'none';
      await this.#next(`the service gets it: ${fault}`);
      const name = by.carriesKey ? key?.id : undefined;
      const before = name === undefined ? undefined : this.known.get(name);
      const lost = new BackendUnavailableError('Lost.');
      if (fault === 'lost before') return end(lost, 'lost');
      if (fault === 'refused' && !before) return end(new ErrorResponse(400, 'No.'), '400');
      const made = before ?? { id: String(this.stored.length + 1), ...pet, status: undefined };
      if (before === undefined) this.stored.push({ call, at: this.step });
      if (name !== undefined) this.known.set(name, made as Pet);
      await this.#next('its response');
      if (fault === 'lost after') end(lost, 'lost');
      else if (fault !== 'silent') end(made as Pet, '201');
    };
    void make();
    return promise;
  }

  press(index: number): void {
    const by = this.#gateways[index] as Gateway;
    const ends: (() => void)[] = [];
    const caller = {
      key: { credential: 'key', isAccepted: true },
      calls: [] as ServiceCall[],
      cancelled: undefined as Error | undefined,
      whenCancelled: (end: () => void) => void ends.push(end),
      holdUntil() {},
      isReplayed: false,
      end() {
        for (const call of caller.calls) call.cancel(caller as unknown as KeyedCaller);
        for (const end of ends) end();
      },
    };
    const press: Press = {
      caller: caller as unknown as Press['caller'],
      gateway: by,
      startedAt: this.step,
      endedAt: Number.POSITIVE_INFINITY,
    };
    this.presses.push(press);
    const settle = (outcome: string, more: object) => {
      if (by.isCrashed || press.outcome !== undefined) return;
      Object.assign(press, { outcome, endedAt: this.step, ...more });
    };
    const made = by.petStore?.createPet(press.caller, pet, write);
    made?.then(
      (value) => settle('DONE', { pet: value }),
      (error) => settle(error.writeOutcome ?? String(error), { error }),
    );
  }

  apply(event: Event): void {
    if (event.kind === 'press') this.press(event.gateway);
    else if (event.kind === 'time') vi.advanceTimersByTime(event.ms);
    else if (event.kind === 'freeze') this.#freeze();
    else if (event.kind === 'thaw') this.thaw();
    else if (event.kind === 'fill') this.redis.isFull = true;
    else if (event.kind === 'empty') this.redis.isFull = false;
    else if (event.kind === 'crash') {
      this.hasCrashed = true;
      (this.#gateways[event.gateway] as Gateway).isCrashed = true;
      this.#gateways[event.gateway] = this.#open(event.gateway);
    } else if ('press' in event) {
      const caller = this.presses[event.press]?.caller;
      if (caller === undefined || caller.cancelled) return;
      caller.cancelled =
        event.kind === 'leave'
          ? new CancelledError()
          : new BackendTimeoutError('Late.', { writeOutcome: 'NOT_DONE' });
      caller.end();
    }
  }

  #freeze(): void {
    const { redis } = this;
    if (redis.isFrozen) return;
    redis.isFrozen = true;
    redis.thawed = Promise.withResolvers();
    const { thawed } = redis;
    setTimeout(() => {
      if (redis.thawed !== thawed || !redis.isFrozen) return;
      for (const one of this.#gateways) {
        one.isConnected = false;
        one.line = Promise.resolve();
        for (const fail of one.broken) fail(new Error('silent'));
      }
    }, redisMs.silent);
  }

  thaw(): void {
    this.redis.isFrozen = false;
    this.redis.thawed.resolve();
    for (const one of this.#gateways) one.isConnected = true;
  }

  /** Lets time pass until nothing is left to do, or for half a minute if Redis is frozen or full. */
  async settle(): Promise<void> {
    await this.#scheduler.waitIdle();
    for (let seconds = 0; vi.getTimerCount() > 0 && seconds < 30; seconds++) {
      vi.advanceTimersByTime(1000);
      await this.#scheduler.waitIdle();
    }
  }
}

/** Runs a plan in an order. @returns what was wrong */
async function race(scheduler: Scheduler, plan: Plan): Promise<string[]> {
  const world = new World(scheduler, plan);
  for (const event of plan.first) {
    world.apply(event);
    await scheduler.waitIdle();
  }
  for (const event of plan.events) {
    void scheduler
      .schedule(Promise.resolve(), JSON.stringify(event))
      .then(() => world.apply(event));
  }
  await world.settle();
  world.thaw();
  world.apply({ kind: 'empty' });
  await world.settle();
  const wasSent = world.calls.some(({ sentAt }) => sentAt < Number.POSITIVE_INFINITY);
  world.press(0);
  await world.settle();
  const wrong: string[] = [];
  const { stored, presses, calls } = world;
  if (stored.length > 1) wrong.push(`stored ${stored.length} times`);
  for (const [index, press] of presses.entries()) {
    const { outcome, error, endedAt, startedAt } = press;
    const hasLeft = press.caller.cancelled instanceof CancelledError;
    if (outcome === undefined && !press.gateway.isCrashed) wrong.push(`press ${index} hangs`);
    const before = stored.find(({ at }) => at <= endedAt);
    if (outcome === 'DONE' && press.pet?.id !== '1')
      wrong.push(`press ${index}: a pet that is not stored`);
    if (outcome === 'DONE' && !before) wrong.push(`press ${index}: DONE, but nothing is stored`);
    if (outcome !== 'NOT_DONE' || hasLeft) continue;
    const own = stored.find(({ call }) => call.press === press);
    if (own) wrong.push(`press ${index}: NOT_DONE, but it is stored`);
    // The service's own refusal of a later attempt is shown as it is.
    if (error instanceof ErrorResponse) continue;
    // Another gateway may send it after the store was asked.
    const sent = stored.find(
      ({ call }) => call.sentAt <= (call.press.gateway === press.gateway ? endedAt : startedAt),
    );
    if (sent) wrong.push(`press ${index}: NOT_DONE, but an earlier one is stored`);
  }
  const last = presses.at(-1)?.outcome;
  if (!world.hasCrashed && !wasSent && last !== 'DONE') {
    const [fault] = calls.slice(-1).map(({ outcome }) => outcome);
    if (fault === undefined) wrong.push(`nothing was sent, but the last press is ${last}`);
  }
  return wrong;
}

describe('a write with a key, whose steps come in any order', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is never done twice, and its outcome is never wrong', { timeout: fuzzTimeout }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plans, async (scheduler, plan) => {
        vi.clearAllTimers();
        expect(await race(scheduler, plan)).toEqual([]);
      }),
      fuzzed(2000),
    );
  });
});
