import { Circuit, type CircuitLimits } from './circuit.ts';
import type { Effect } from './outcome.ts';

/** Maximum number of keys. The key whose last failure is the oldest is dropped first. */
const maxKeys = 1000;

/**
 * One circuit per key with failures, so that failures of one key only affect that key. A key
 * without a failure since its last success needs no memory.
 */
export class KeyCircuits {
  readonly #limits: CircuitLimits;
  readonly #circuits = new Map<number, Circuit>();

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  /** Returns the circuit of a key; undefined if it has no failures. */
  find(key: number): Circuit | undefined {
    return this.#circuits.get(key);
  }

  /** Records the end of a call that started at `startedAt`. */
  end(key: number, effect: Effect, startedAt: number): void {
    if (effect !== 'failure' && this.#circuits.size === 0) return;
    const circuit = this.#circuits.get(key) ?? new Circuit(this.#limits);
    circuit.end(effect, startedAt);
    // Moved to the end of the map, because the first key is dropped first.
    this.#circuits.delete(key);
    if (circuit.failures > 0) this.#circuits.set(key, circuit);
    if (this.#circuits.size > maxKeys) {
      const [oldest = 0] = this.#circuits.keys();
      this.#circuits.delete(oldest);
    }
  }

  /** Returns the number of keys whose calls are rejected now. */
  countOpen(): number {
    const now = performance.now();
    return [...this.#circuits.values()].filter((circuit) => circuit.rejectsForMs(now) > 0).length;
  }
}
