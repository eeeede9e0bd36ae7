import type { Worker } from 'node:cluster';
import { addEnded, type Measured } from '../telemetry/metrics.ts';

/** What the workers measured, those that have ended included. */
export class Measurements {
  /** By worker, when it last answered, so that one that is stuck does not lower a sum. */
  readonly #living = new Map<Worker, Measured>();
  #ended = Promise.resolve<Measured>([]);

  /** Notes what a worker has answered; not of one that has ended since, which would count twice. */
  note(worker: Worker, measured: Measured): void {
    if (!worker.isDead()) this.#living.set(worker, measured);
  }

  /** Keeps the counts of a worker that has ended. */
  end(worker: Worker): void {
    const last = this.#living.get(worker) ?? [];
    this.#living.delete(worker);
    this.#ended = this.#ended.then((sum) => addEnded(sum, last));
  }

  /** Of each worker, and of all that have ended, at one moment. */
  async all(): Promise<readonly Measured[]> {
    const living = [...this.#living.values()];
    return [...living, await this.#ended];
  }
}
