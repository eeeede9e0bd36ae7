/** What an attack is aimed at. */
export interface Target {
  readonly port: number;
  /** A key that the service accepts; the honest client has another. */
  readonly apiKey: string;
  /** Aborted when the attack's time has passed. */
  readonly signal: AbortSignal;
  /** Counts one request, whole or begun. */
  readonly countRequest: () => void;
}

/** One way to cost a gateway more than a client's share. */
export interface Attack {
  readonly id: string;
  /** What it does, for a reader of the table. */
  readonly sentence: string;
  /** What stands behind the gateway: a REST service, or its own database. */
  readonly backend: 'rest' | 'built-in';
  /** Environment variables that the attack needs, such as a page that is turned on. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Attacks until its count is reached or its time has passed. */
  readonly run: (target: Target) => Promise<void>;
}
