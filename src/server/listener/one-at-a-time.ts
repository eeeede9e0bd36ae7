import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { holdBack } from '../http/hold-back.ts';

/** Requests that may wait on all connections together, about 4 kB each; the connections of more are closed. */
const maxWaiting = 10_000;

/**
 * Undefined when it is somebody's turn at once; else resolves when it is, with whether the client is
 * still there.
 */
export type Turn = Promise<boolean> | undefined;

/** When the requests of each connection are answered. */
export interface Turns {
  /** Called for each request when it arrives. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): Turn;
  /** The turn of what follows the last whole request of a connection: part of one, or none at all. */
  takeLast(socket: Socket): Turn;
}

/**
 * Lets the requests of a connection be answered one after the other. A client may send the next one
 * before it has the response to the one before (RFC 9112, section 9.3.2); it waits until that has been
 * written, and takes nothing from other connections. While requests wait, none is read: one read of
 * 64 KiB may hold two thousand.
 */
export function oneAtATime(): Turns {
  const lines = new WeakMap<Socket, Line>();
  const waiting = { count: 0 };

  return {
    take(incoming, outgoing) {
      const { socket } = incoming;
      let line = lines.get(socket);
      if (line === undefined) {
        line = new Line(socket, waiting);
        lines.set(socket, line);
      }
      outgoing.once('close', line.next);
      return line.join(incoming);
    },
    takeLast: (socket) => lines.get(socket)?.joinLast(),
  };
}

/** The requests of one connection. */
class Line {
  readonly #socket: Socket;
  /** Of all lines. */
  readonly #all: { count: number };
  readonly #waiting: ((isThere: boolean) => void)[] = [];
  #last: IncomingMessage | undefined;
  #lastTurn: Turn;
  #isBusy = false;
  #readOn: (() => void) | undefined;

  constructor(socket: Socket, all: { count: number }) {
    this.#socket = socket;
    this.#all = all;
  }

  join(incoming: IncomingMessage): Turn {
    this.#last = incoming;
    this.#lastTurn = this.#wait();
    return this.#lastTurn;
  }

  joinLast(): Turn {
    return this.#last?.complete === false ? this.#lastTurn : this.#wait();
  }

  /** Begins with the next request, or drops all when the connection is closed. */
  readonly next = () => {
    const isThere = this.#socket.writable;
    const begun = this.#waiting.splice(0, isThere ? 1 : this.#waiting.length);
    this.#all.count -= begun.length;
    this.#isBusy = begun.length > 0;
    for (const begin of begun) begin(isThere);
    if (this.#waiting.length > 0) return;
    this.#readOn?.();
    this.#readOn = undefined;
  };

  #wait(): Turn {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return undefined;
    }
    if (this.#all.count >= maxWaiting) this.#socket.destroy();
    if (!this.#socket.writable) return Promise.resolve(false);
    this.#readOn ??= holdBack(this.#socket);
    this.#all.count++;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
