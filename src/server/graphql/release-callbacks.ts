/** Callbacks that release what a request holds of shared limits, once its response is complete. */
export class ReleaseCallbacks {
  #callbacks: (() => void)[] | undefined;
  #isComplete = false;

  /** Adds a callback; calls it immediately if the response is complete. */
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
