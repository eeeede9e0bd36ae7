/** Callbacks that release what a request holds of shared budgets, once its result is complete. */
export class ReleaseCallbacks {
  #callbacks: (() => void)[] | undefined;
  #isComplete = false;

  /** Adds a callback; calls it immediately if the result is complete. */
  readonly add = (release: () => void): void => {
    if (this.#isComplete) release();
    else if (this.#callbacks === undefined) this.#callbacks = [release];
    else this.#callbacks.push(release);
  };

  /** Calls the callbacks. */
  complete(): void {
    this.#isComplete = true;
    if (this.#callbacks !== undefined) for (const release of this.#callbacks) release();
  }
}
