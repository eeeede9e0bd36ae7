import type { Caller, ServiceCall } from '../contract/caller.ts';
import { ErrorResponse } from '../contract/error.ts';
import { type Contract, type Operation, statusOf } from '../contract/operation.ts';
import { createRequestWriter } from '../contract/request.ts';
import type { ExplainedCall } from './result-types.ts';

/** The response key of the root field that makes a call. */
export type ResponseKey = string | number;

/** The calls of the fields of an operation, as `extensions.calls` lists them. */
export class ExplainedCalls {
  readonly #contract: Contract;
  readonly #startedAt = performance.now();
  /** The call of each field or read, unless it is built in, and whether another field or request has it. */
  readonly #calls = new Map<ResponseKey, { call: ServiceCall | undefined; isShared: boolean }>();
  /** Each at the position of its field, which is empty without a call that has ended. */
  readonly #list: ExplainedCall[] = [];
  #fields = 0;

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  /** Adds the call that a backend has started, or joined, for a field or a read. */
  add(name: ResponseKey, caller: Caller, call: ServiceCall | undefined, isBuiltin = false): void {
    if (!call && !isBuiltin) return;
    this.#calls.set(name, { call, isShared: call !== undefined && call.caller !== caller });
  }

  /** Returns the calls that have ended. */
  list(): readonly ExplainedCall[] {
    return Object.values(this.#list);
  }

  /** Adds the call of a field when it has ended, at the position of the field. */
  async explain<Result>(
    operation: string,
    parameters: unknown,
    field: ResponseKey,
    name: ResponseKey,
    result: Promise<Result>,
  ): Promise<Result> {
    const position = this.#fields++;
    const fieldStartedAt = performance.now();
    const declared = this.#contract.operations[operation] as Operation;
    const { method, path: pathTemplate } = declared;
    let status: number | null = statusOf(declared);
    try {
      return await result;
    } catch (error) {
      status = error instanceof ErrorResponse ? error.status : null;
      throw error;
    } finally {
      const made = this.#calls.get(name);
      if (made) {
        const { call, isShared: shared } = made;
        made.isShared = true;
        const response = call
          ? { status: call.status, retries: call.retries, bytes: call.bytes }
          : { status, retries: 0, builtin: true as const };
        this.#list[position] = {
          path: [field],
          operation,
          method,
          pathTemplate,
          target: targetOf(this.#contract, declared, parameters),
          ...response,
          startMs: rounded(fieldStartedAt - this.#startedAt),
          durationMs: rounded(performance.now() - fieldStartedAt),
          shared,
        };
      }
    }
  }
}

/** Returns the path with its values, or with the names of those that no URL can carry, as a service at the contract's base URL receives it. */
function targetOf({ services }: Contract, operation: Operation, parameters: unknown): string {
  const base = services[operation.service]?.version ?? '';
  try {
    return base + createRequestWriter(operation)(parameters).path;
  } catch {
    return base + operation.path;
  }
}

const rounded = (ms: number) => Math.round(ms * 100) / 100;
