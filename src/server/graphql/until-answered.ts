/** What a request holds of what all may hold together, until it is answered. */
export class UntilAnswered {
  #held: (() => void)[] | undefined;
  #isAnswered = false;

  /** Calls `giveBack` when the request is answered, or at once when it was. */
  readonly add = (giveBack: () => void): void => {
    if (this.#isAnswered) giveBack();
    else if (this.#held === undefined) this.#held = [giveBack];
    else this.#held.push(giveBack);
  };

  /** The request is answered. */
  end(): void {
    this.#isAnswered = true;
    if (this.#held !== undefined) for (const giveBack of this.#held) giveBack();
  }
}
