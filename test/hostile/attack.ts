/** The gateway under attack. */
export interface Target {
  readonly port: number;
  /** A key that the service accepts; the honest client has a different one. */
  readonly apiKey: string;
  /** Aborted when the duration of the attack has passed. */
  readonly signal: AbortSignal;
  /** Counts one request, complete or started. */
  readonly countRequest: () => void;
}

/** A way to make a gateway spend more than one client's share of its resources. */
export interface Attack {
  /** What the attack sends. */
  readonly id: string;
  /** The gateway's backend. */
  readonly backend: 'rest' | 'built-in';
  /** Environment variables that the attack needs, for example to turn a page on. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Attacks until the duration has passed. */
  readonly run: (target: Target) => Promise<void>;
}
