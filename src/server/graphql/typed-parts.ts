import type { GraphQLError } from 'graphql';
import type { Deprecation, TypedError } from '../../graphql/result.ts';
import { nextSlice } from '../../limits/slices.ts';
import type { DeliveryFormat } from './delivery.ts';
import { isLarge } from './response-size.ts';
import {
  type EngineParts,
  type TypedResult,
  type TypingContext,
  typeErrors,
} from './typed-result.ts';

/**
 * Data of a deferred fragment, identified by id in graphql-js 17's format and by path in the draft.
 */
interface Increment {
  readonly id?: string;
  readonly label?: string;
  readonly path?: readonly (string | number)[];
  readonly subPath?: readonly (string | number)[];
  readonly data?: Record<string, unknown> | null;
}

/** One part of a result as the client receives it. */
export interface TypedPart extends TypedResult {
  readonly pending?: readonly Required<Pick<Increment, 'id' | 'path'>>[];
  readonly incremental?: readonly (Increment & { readonly errors?: readonly TypedError[] })[];
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly TypedError[] }[];
  /** Whether another part follows. */
  readonly hasNext: boolean;
}

/** A part as graphql-js returns it. */
interface EnginePart
  extends Omit<TypedPart, 'errors' | 'incremental' | 'completed' | 'extensions'> {
  readonly errors?: readonly GraphQLError[];
  readonly incremental?: readonly (Increment & { readonly errors?: readonly GraphQLError[] })[];
  readonly completed?: readonly {
    readonly id: string;
    readonly errors?: readonly GraphQLError[];
  }[];
}

/** Options of `TypedParts`. */
export interface TypedPartsOptions extends TypingContext {
  readonly format: DeliveryFormat;
  readonly deprecations: readonly Deprecation[];
  /** The key that the request counts as in limits. */
  readonly key: number;
  /** Disposed after the last part, or when the rest is cancelled. */
  readonly scope: DisposableStack;
  /** Aborts the calls of the operation. */
  readonly calls: AbortController;
}

/**
 * The parts of a result; the errors of each are typed when it is read. Read them to the end, or
 * call `return`, which cancels the calls in flight.
 */
export class TypedParts implements AsyncIterableIterator<TypedPart, undefined> {
  readonly format: DeliveryFormat;
  readonly #options: TypedPartsOptions;
  readonly #subsequent: AsyncIterator<EnginePart, unknown>;
  #initial: EnginePart | undefined;

  constructor({ initialResult, subsequentResults }: EngineParts, options: TypedPartsOptions) {
    this.format = options.format;
    this.#options = options;
    this.#initial = initialResult;
    this.#subsequent = subsequentResults;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<TypedPart, undefined>> {
    if (this.#initial !== undefined) this.#options.record.onFirstPart();
    const value = await this.#read();
    return value === undefined ? { value, done: true } : { value, done: false };
  }

  /** Cancels the calls, and reads the rest so that its errors are recorded. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#options.calls.abort();
    while ((await this.#read()) !== undefined);
    return { value: undefined, done: true };
  }

  /** Makes the calls in flight time out, so that the next part is the last. */
  end(): void {
    this.#options.calls.abort(new DOMException('The gateway is shutting down.', 'TimeoutError'));
  }

  async #read(): Promise<TypedPart | undefined> {
    const initial = this.#initial;
    if (initial !== undefined) {
      this.#initial = undefined;
      const { deprecations } = this.#options;
      const part = await this.#type(initial);
      return deprecations.length === 0 ? part : { ...part, extensions: { deprecations } };
    }
    try {
      const { value, done } = await this.#subsequent.next();
      if (!done) return await this.#type(value);
      this.#options.scope.dispose();
      return undefined;
    } catch (error) {
      const { record, reportError, scope } = this.#options;
      reportError(error, record.requestId);
      scope.dispose();
      throw error;
    }
  }

  /** Types the errors of a part. A large part waits for a slice. */
  async #type({ errors, incremental, completed, ...rest }: EnginePart): Promise<TypedPart> {
    const type = <Entry extends { readonly errors?: readonly GraphQLError[] }>(entry: Entry) => {
      const { errors, ...rest } = entry;
      return errors ? { ...rest, errors: typeErrors(errors, this.#options) } : rest;
    };
    const part = {
      ...(errors && { errors: typeErrors(errors, this.#options) }),
      ...rest,
      ...(incremental && { incremental: incremental.map(type) }),
      ...(completed && { completed: completed.map(type) }),
    };
    if (isLarge(part)) await nextSlice(this.#options.key);
    return part;
  }
}
