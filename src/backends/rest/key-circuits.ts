import { hash } from 'node:crypto';
import { Circuit, type CircuitLimits } from './circuit.ts';

/** The most keys whose failures are remembered; the one whose last failure is oldest gives way. */
const maxKeys = 1000;

/**
 * A circuit for each key whose calls fail, so that what fails for one key is refused to that key
 * only. A key without a failure since its last success costs nothing.
 */
export class KeyCircuits {
  readonly #limits: CircuitLimits;
  /** By a hash of the credential: a key may be long, and is kept nowhere. */
  readonly #circuits = new Map<string, Circuit>();

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  /** The circuit of a key that has failures. */
  find(authorization: string): Circuit | undefined {
    return this.#circuits.size === 0 ? undefined : this.#circuits.get(digestOf(authorization));
  }

  /** Counts a failure of a call that began at `begunAt`; returns the digest that names the key. */
  fail(authorization: string, begunAt: number): string {
    const digest = digestOf(authorization);
    const circuit = this.#circuits.get(digest) ?? new Circuit(this.#limits);
    // At the end of the map's order, whose beginning gives way.
    this.#circuits.delete(digest);
    this.#circuits.set(digest, circuit);
    circuit.fail(begunAt);
    if (this.#circuits.size > maxKeys) {
      const [oldest = ''] = this.#circuits.keys();
      this.#circuits.delete(oldest);
    }
    return digest;
  }

  /** Forgets the failures of a key. */
  forget(authorization: string): void {
    this.#circuits.delete(digestOf(authorization));
  }

  /** For how many keys calls are refused now; one that stays away is not counted for long. */
  countRefused(): number {
    const now = performance.now();
    let refused = 0;
    for (const circuit of this.#circuits.values()) if (circuit.refuses(now)) refused++;
    return refused;
  }
}

function digestOf(authorization: string): string {
  return hash('sha256', authorization, 'base64');
}
