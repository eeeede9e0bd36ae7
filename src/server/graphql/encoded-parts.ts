import type { BodyParts } from '../../http/message.ts';
import { type Delivery, framePart } from './delivery.ts';
import { maxResponseLength, responseTooLarge, withoutExcess, write } from './response-size.ts';
import type { TypedPart, TypedParts } from './typed-parts.ts';

/**
 * The parts of a result as text. One size limit applies to all together: the part that exceeds it
 * becomes the last, with an error for every pending fragment.
 */
export class EncodedParts implements BodyParts {
  readonly finished: Promise<void>;
  readonly #parts: TypedParts;
  readonly #transport: Delivery['transport'];
  readonly #requestId: string;
  /** The ids of pending fragments. */
  readonly #pending = new Set<string>();
  #left = maxResponseLength;
  #isFirst = true;

  constructor(parts: TypedParts, transport: Delivery['transport'], requestId: string) {
    this.finished = parts.finished;
    this.#parts = parts;
    this.#transport = transport;
    this.#requestId = requestId;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    const { value: part, done } = await this.#parts.next();
    if (done) return { value: undefined, done };
    let text = write(part);
    const isTooLarge = text.length > this.#left;
    if (isTooLarge) {
      text = write(this.#cutOff(part));
      await this.#parts.return();
    }
    this.#left -= text.length;
    for (const { id } of part.pending ?? []) this.#pending.add(id);
    for (const { id } of part.completed ?? []) this.#pending.delete(id);
    const isLast = isTooLarge || !part.hasNext;
    const value = framePart(text, this.#transport, { isFirst: this.#isFirst, isLast });
    this.#isFirst = false;
    return { value, done: false };
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    return this.#parts.return();
  }

  end(): void {
    this.#parts.end();
  }

  #cutOff({ data, errors = [], extensions }: TypedPart): TypedPart {
    const tooLarge = responseTooLarge(this.#requestId);
    if (this.#isFirst) {
      const whole = { errors: [...errors, tooLarge], data: data ?? null, hasNext: false };
      return {
        ...withoutExcess({ ...whole, ...(extensions && { extensions }) }, this.#requestId),
        hasNext: false,
      };
    }
    if (this.#parts.format === 'deferSpec=20220824') {
      return { incremental: [{ data: null, path: [], errors: [tooLarge] }], hasNext: false };
    }
    const completed = [...this.#pending].map((id) => ({ id, errors: [tooLarge] }));
    return { completed, hasNext: false };
  }
}
