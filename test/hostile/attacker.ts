import { parentPort, workerData } from 'node:worker_threads';
import { attacks } from './attacks.ts';

/** The data of the attacker's worker thread. */
export interface AttackerData {
  readonly id: string;
  readonly port: number;
  readonly apiKey: string;
  readonly milliseconds: number;
}

const { id, port, apiKey, milliseconds } = workerData as AttackerData;
const attack = attacks.find((one) => one.id === id);
if (attack === undefined) throw new Error(`Expected the id of an attack, received ${id}.`);
let sent = 0;
const end = new AbortController();
// Not AbortSignal.timeout: its timer does not keep the thread alive, and neither does a paused
// socket.
setTimeout(() => end.abort(), milliseconds);
const { signal } = end;
const countRequest = () => {
  sent++;
};
await attack.run({ port, apiKey, signal, countRequest });
parentPort?.postMessage(sent);
