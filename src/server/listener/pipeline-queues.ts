import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { pauseReading } from '../http/pause-reading.ts';

/**
 * The most queued requests of all connections, about 4 kB each. Beyond it, connections are closed.
 */
const maxQueued = 10_000;

/**
 * Undefined if a request can be handled immediately; otherwise resolves when it can, to whether the
 * client is still connected.
 */
export type Turn = Promise<boolean> | undefined;

/** The pipelined requests of each connection. */
export interface PipelineQueues {
  /** Called for every request on arrival. */
  enqueue(incoming: IncomingMessage, outgoing: ServerResponse): Turn;
  /** Enqueues input that follows the last complete request: part of a request, or not a request. */
  enqueueLast(socket: Socket): Turn;
}

/**
 * Handles the requests of each connection one after the other. A client may send requests before it
 * has the responses to earlier ones (RFC 9112, section 9.3.2); they are queued and use no capacity
 * of other connections. While requests are queued, their socket is not read: one read of 64 KiB may
 * contain two thousand requests.
 */
export function createPipelineQueues(): PipelineQueues {
  const queues = new WeakMap<Socket, PipelineQueue>();
  const total = { queued: 0 };

  return {
    enqueue(incoming, outgoing) {
      const { socket } = incoming;
      const known = queues.get(socket);
      const queue = known ?? new PipelineQueue(socket, total);
      if (known === undefined) queues.set(socket, queue);
      outgoing.once('close', queue.next);
      const start = queue.enqueue(incoming);
      return known === undefined ? afterNextRead(socket) : start;
    },
    enqueueLast: (socket) => queues.get(socket)?.enqueueLast(),
  };
}

/**
 * Resolves when the event loop has read all sockets again, to whether this one is still connected.
 * A client may have reset it before Node, which accepts one connection per turn, accepted it; its
 * request would cost a millisecond. Later requests of a connection are not delayed.
 * If another follows immediately, reading pauses and the reset goes unnoticed. Reading on instead
 * would delay other clients by more than a second.
 */
async function afterNextRead(socket: Socket): Promise<boolean> {
  await turn();
  await turn();
  return socket.writable;
}

/** The requests of one connection. */
class PipelineQueue {
  readonly #socket: Socket;
  /** The number of queued requests of all connections. */
  readonly #total: { queued: number };
  readonly #queued: ((isConnected: boolean) => void)[] = [];
  #last: IncomingMessage | undefined;
  #lastTurn: Turn;
  #isBusy = false;
  #resumeReading: (() => void) | undefined;

  constructor(socket: Socket, total: { queued: number }) {
    this.#socket = socket;
    this.#total = total;
  }

  enqueue(incoming: IncomingMessage): Turn {
    this.#last = incoming;
    this.#lastTurn = this.#wait();
    return this.#lastTurn;
  }

  enqueueLast(): Turn {
    return this.#last?.complete === false ? this.#lastTurn : this.#wait();
  }

  /** Starts the next request, or drops all if the connection is closed. */
  readonly next = () => {
    const isConnected = this.#socket.writable;
    const starting = this.#queued.splice(0, isConnected ? 1 : this.#queued.length);
    this.#total.queued -= starting.length;
    this.#isBusy = starting.length > 0;
    for (const start of starting) start(isConnected);
    if (this.#queued.length > 0) return;
    this.#resumeReading?.();
    this.#resumeReading = undefined;
  };

  #wait(): Turn {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return undefined;
    }
    if (this.#total.queued >= maxQueued) this.#socket.destroy();
    if (!this.#socket.writable) return Promise.resolve(false);
    this.#resumeReading ??= pauseReading(this.#socket);
    this.#total.queued++;
    return new Promise((resolve) => this.#queued.push(resolve));
  }
}
