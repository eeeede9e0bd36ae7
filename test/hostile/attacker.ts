import { parentPort, workerData } from 'node:worker_threads';
import { attacks } from './attacks.ts';

/** What the thread of an attacker starts with. */
export interface AttackOrder {
  readonly id: string;
  readonly port: number;
  readonly apiKey: string;
  readonly milliseconds: number;
}

const { id, port, apiKey, milliseconds } = workerData as AttackOrder;
const attack = attacks.find((one) => one.id === id);
if (attack === undefined) throw new Error(`Expected the id of an attack, received ${id}.`);
let sent = 0;
const end = new AbortController();
// Not AbortSignal.timeout: neither its timer nor a socket that is not read keeps a thread alive.
setTimeout(() => end.abort(), milliseconds);
const { signal } = end;
const countRequest = () => {
  sent++;
};
await attack.run({ port, apiKey, signal, countRequest });
parentPort?.postMessage(sent);
