import type { Socket } from 'node:net';
import type { NodeListener } from '../http/node.ts';

/** Requests of one connection that may wait; beyond it, nothing more is read from the connection. */
const maxWaiting = 32;

/** The requests of one connection. */
interface Line {
  isBusy: boolean;
  readonly waiting: (() => Promise<void>)[];
}

/**
 * Answers the requests of a connection one after the other. A client may send the next one before it
 * has the response to the one before (RFC 9112, section 9.3.2); it waits its turn, and takes nothing
 * from other connections.
 */
export function oneAtATime(listener: NodeListener): NodeListener {
  const lines = new WeakMap<Socket, Line>();

  return async (incoming, outgoing) => {
    const { socket } = incoming;
    let line = lines.get(socket);
    if (line === undefined) {
      line = { isBusy: false, waiting: [] };
      lines.set(socket, line);
    }
    if (line.isBusy) {
      line.waiting.push(() => listener(incoming, outgoing));
      if (line.waiting.length === maxWaiting) socket.pause();
      return;
    }
    line.isBusy = true;
    try {
      await listener(incoming, outgoing);
      for (
        let next = line.waiting.shift();
        next && !socket.destroyed;
        next = line.waiting.shift()
      ) {
        if (line.waiting.length === 0) socket.resume();
        await next();
      }
    } finally {
      line.isBusy = false;
    }
  };
}
