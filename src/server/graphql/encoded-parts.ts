import type { FailedRequest } from '../../graphql/errors.ts';
import type { BodyParts } from '../../http/message.ts';
import {
  maxResponseLength,
  responseTooLarge,
  withoutExcess,
  write,
  writeWithin,
} from './response-size.ts';
import type { TypedPart, TypedParts } from './typed-parts.ts';

/** Formats the JSON of a part for its transport. */
type Frame = (json: string, position: { isFirst: boolean; isLast: boolean }) => string;

/**
 * The parts of a result as text. One limit applies to their JSON together: the part that exceeds it
 * becomes the last, with an error for every pending fragment.
 */
export class EncodedParts implements BodyParts {
  readonly #parts: TypedParts;
  readonly #frame: Frame;
  readonly #record: FailedRequest;
  /** The ids of pending fragments. */
  readonly #pending = new Set<string>();
  #left = maxResponseLength;
  #isFirst = true;

  constructor(parts: TypedParts, frame: Frame, record: FailedRequest) {
    this.#parts = parts;
    this.#frame = frame;
    this.#record = record;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    const { value: part, done } = await this.#parts.next();
    if (done) return { value: undefined, done };
    const cutOff = this.#isFirst ? undefined : this.#cutOff();
    for (const { id } of part.pending ?? []) this.#pending.add(id);
    for (const { id } of part.completed ?? []) this.#pending.delete(id);
    const reserved = part.hasNext ? write(this.#cutOff()).length : 0;
    const whole = writeWithin(part, this.#left - reserved);
    const text = whole ?? write(cutOff ?? this.#withoutExcess(part));
    if (whole === undefined) await this.#parts.return();
    this.#left -= text.length;
    const isLast = whole === undefined || !part.hasNext;
    const value = this.#frame(text, { isFirst: this.#isFirst, isLast });
    this.#isFirst = false;
    return { value, done: false };
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    return this.#parts.return();
  }

  end(): void {
    this.#parts.end();
  }

  /** Returns the first part as the only one. */
  #withoutExcess({ pending: _, errors = [], ...part }: TypedPart): object {
    const tooLarge = responseTooLarge(this.#record);
    const only = { ...part, errors: [...errors, tooLarge], hasNext: false };
    return withoutExcess(only, this.#record);
  }

  /** Returns a last part with an error for the fragments that are pending. */
  #cutOff(): TypedPart {
    const errors = [responseTooLarge(this.#record)];
    if (this.#parts.format === 'deferSpec=20220824') {
      return { incremental: [{ data: null, path: [], errors }], hasNext: false };
    }
    return { completed: [...this.#pending].map((id) => ({ id, errors })), hasNext: false };
  }
}
