import type { Caller } from '../contract/caller.ts';
import type { Circuit } from '../limits/circuit.ts';

/** The caller of a backend, with all that is known of its API key. */
export interface KeyedCaller extends Caller {
  readonly key: ApiKey;
}

/** A read in flight, which equal reads with the same key may join. */
export interface SharedRead {
  /** Names the read: equal reads have the same id. */
  readonly id: string;
  /** As a `performance.now()` timestamp. */
  readonly startedAt: number;
}

/** What is known of one API key, as long as it is in use. */
export class ApiKey {
  /** The token of the `Authorization` header; empty for requests without one. */
  readonly credential: string;
  isAccepted = false;
  /** Its latest `Authorization` header that was well-formed; clients repeat theirs. */
  header: string | undefined;
  /** The number of its requests in flight. */
  requests = 0;
  /** How much of each limit it uses, by the index of the limit. */
  readonly used: number[] = [];
  /** When its rate allows a whole second's worth again, in microseconds; see `Rate`. */
  rateFullAt = 0;
  /** The same for its part of the rate that keys share which were never accepted. */
  unknownRateFullAt = 0;
  /** When its last call to each origin succeeded, as a `performance.now()` timestamp. */
  readonly succeededAt: number[] = [];
  /** Its circuit at each origin, by the index of the origin; missing without recent failures. */
  readonly circuits: (Circuit | undefined)[] = [];
  readonly reads: SharedRead[] = [];

  constructor(credential: string) {
    this.credential = credential;
  }

  /** Whether anything of it is in flight. */
  get isActive(): boolean {
    return this.requests > 0 || this.used.some((amount) => amount > 0);
  }
}
