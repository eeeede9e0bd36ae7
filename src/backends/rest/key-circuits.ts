import { hash } from 'node:crypto';
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
  /** By a hash of the credential, because keys can be long and must not be stored. */
  readonly #circuits = new Map<string, Circuit>();

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  /** Returns the circuit of a key; undefined if it has no failures. */
  find(authorization: string): Circuit | undefined {
    return this.#circuits.size === 0 ? undefined : this.#circuits.get(digestOf(authorization));
  }

  /**
   * Records the end of a call that started at `startedAt`. Returns a digest that identifies the key
   * of a failure.
   */
  end(authorization: string, effect: Effect, startedAt: number): string | undefined {
    if (effect !== 'failure' && this.#circuits.size === 0) return undefined;
    const digest = digestOf(authorization);
    const circuit = this.#circuits.get(digest) ?? new Circuit(this.#limits);
    circuit.end(effect, startedAt);
    // Moved to the end of the map, because the first key is dropped first.
    this.#circuits.delete(digest);
    if (circuit.failures > 0) this.#circuits.set(digest, circuit);
    if (this.#circuits.size > maxKeys) {
      const [oldest = ''] = this.#circuits.keys();
      this.#circuits.delete(oldest);
    }
    return effect === 'failure' ? digest : undefined;
  }

  /** Returns the number of keys whose calls are rejected now. */
  countOpen(): number {
    const now = performance.now();
    return [...this.#circuits.values()].filter((circuit) => circuit.rejects(now)).length;
  }
}

function digestOf(authorization: string): string {
  return hash('sha256', authorization, 'base64');
}
