import type { Server, Socket } from 'node:net';
import { endOfTurn } from '../../limits/end-of-turn.ts';
import type { Turn } from './pipeline-queues.ts';

/**
 * The number of requests that start in a turn of the event loop in which a client connects. More
 * than one, because each new client may send one.
 */
const startsPerTurn = 2;

/**
 * The number of waiting requests that start in each turn after that. If all started at once, more
 * could be in flight than are allowed: with the default limit of 1,000, some of 1,024 clients were
 * refused in a third of the runs, with this number in a tenth (docs/performance.md). A request that
 * arrives meanwhile starts immediately.
 */
const startsPerQuietTurn = 64;

/** How many turns a request waits before it starts. */
const minTurns = 2;

interface Waiting {
  readonly socket: Socket;
  readonly start: (isConnected: boolean) => void;
  /** The first turn in which the request may start. */
  readonly turn: number;
}

/**
 * Delays a request on this socket, after its turn on its connection, while clients connect.
 * Undefined if it may start; otherwise resolves when it may, to whether its client is still connected.
 */
export type AcceptFirst = (socket: Socket, ownTurn: Turn) => Turn;

/**
 * Lets a server accept connections before it handles requests. Node accepts one per turn of the
 * event loop. When each turn also handled all requests that had arrived, a thousand clients that
 * connected at once waited for up to 2.9 s instead of 0.3 s (docs/performance.md).
 *
 * A client may reset its connection before it is accepted. The two turns that its request waits are
 * enough to notice that, so it causes no work. If more input follows the request immediately,
 * reading pauses and the reset goes unnoticed.
 */
export function acceptFirst(server: Server): AcceptFirst {
  /** In the order of their turns. */
  const waiting: Waiting[] = [];
  let turn = 0;
  let lastAccept = Number.NEGATIVE_INFINITY;
  let isRunning = false;

  async function run() {
    isRunning = true;
    while (waiting.length > 0 || turn - lastAccept <= minTurns) {
      await endOfTurn();
      turn++;
      const most = turn - lastAccept === 1 ? startsPerTurn : startsPerQuietTurn;
      const end = waiting.findIndex((request, index) => index === most || request.turn > turn);
      const starting = waiting.splice(0, end < 0 ? waiting.length : end);
      for (const { socket, start } of starting) start(socket.writable);
    }
    isRunning = false;
  }

  server.on('connection', () => {
    lastAccept = turn;
    if (!isRunning) run();
  });

  function wait(socket: Socket): Turn {
    if (!isRunning || turn - lastAccept > minTurns) return undefined;
    return new Promise((start) => waiting.push({ socket, start, turn: turn + minTurns }));
  }

  return (socket, ownTurn) =>
    ownTurn === undefined
      ? wait(socket)
      : ownTurn.then((isConnected) => isConnected && (wait(socket) ?? true));
}
