import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Share } from '../../limits/share.ts';
import { type PausedError, type ServerSocket, UnparsedInput } from './unparsed-input.ts';

/**
 * Undefined if a request can be handled immediately; otherwise resolves when it can, to whether the
 * client is still connected.
 */
export type Turn = Promise<boolean> | undefined;

/** The pipelined requests of each connection. */
export interface PipelineQueues {
  /** Called for every connection, before its first request. */
  open(socket: Socket): void;
  /** Called for every request on arrival. */
  enqueue(incoming: IncomingMessage, outgoing: ServerResponse): Turn;
  /**
   * Called for input that is malformed or late. Resolves when earlier requests have their
   * responses, to whether to refuse it.
   */
  enqueueRefusal(socket: Socket): Promise<boolean>;
  /** Called for the rest of what was read when the parser pauses. */
  keepUnparsed(error: PausedError, socket: Socket): void;
}

/**
 * Handles the requests of each connection one after the other. A client may send requests before it
 * has the responses to earlier ones (RFC 9112, section 9.3.2). Of the next one, only the headers
 * are parsed, because one read of 64 KiB may contain two thousand requests: fifty connections that
 * sent them at once blocked the event loop for 5 s, and three hundred exhausted the memory.
 */
export function createPipelineQueues(
  requestTimeoutMs: number,
  unparsedBytes: Share,
): PipelineQueues {
  const queues = new WeakMap<Socket, PipelineQueue>();
  const shared = { unparsedBytes, requestTimeoutMs };

  return {
    open: (socket) => void queues.set(socket, new PipelineQueue(socket, shared)),
    enqueue: (incoming, outgoing) => queues.get(incoming.socket)?.enqueue(incoming, outgoing),
    enqueueRefusal: async (socket) => queues.get(socket)?.enqueueRefusal() ?? true,
    keepUnparsed: (error, socket) => queues.get(socket)?.keepUnparsed(error),
  };
}

/** The code of llhttp by which a parser pauses: it reports the rest of its input in an error. */
const paused = 21;

/** What the queues of all connections share. */
interface Shared {
  readonly unparsedBytes: Share;
  /** The time to send a request, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** The requests of one connection: one in flight, one queued. */
class PipelineQueue {
  readonly #socket: Socket;
  readonly #shared: Shared;
  readonly #unparsed: UnparsedInput;
  #isBusy = false;
  /** Whether the connection closes after what is queued. */
  #isClosing = false;
  /** Whether the last request asks for an upgrade: the parser does not report a pause in it. */
  #isUpgrade = false;
  #inFlight: IncomingMessage | undefined;
  /** In flight or queued. */
  #last: IncomingMessage | undefined;
  #queued: PromiseWithResolvers<boolean> | undefined;

  constructor(socket: ServerSocket, shared: Shared) {
    this.#socket = socket;
    this.#shared = shared;
    this.#unparsed = new UnparsedInput(socket, shared.unparsedBytes);
    const { parser } = socket;
    if (!parser) return;
    const { onIncoming } = parser;
    parser.onIncoming = (incoming, keepAlive) => {
      // Node resets it, because the server handles no upgrades.
      this.#isUpgrade = incoming.upgrade;
      const code = onIncoming(incoming, keepAlive);
      // A CONNECT request has no body: its connection is refused.
      const inChunks = isInChunks(incoming) && incoming.method !== 'CONNECT';
      if (this.#isUpgrade) return inChunks ? paused : code;
      // Node itself refuses a request without a Host.
      if (incoming !== this.#last) this.#isClosing = true;
      if (inChunks) this.#unparsed.expectChunks(incoming);
      return inChunks || incoming !== this.#inFlight ? paused : code;
    };
    socket.once('close', this.#next);
  }

  enqueue(incoming: IncomingMessage, outgoing: ServerResponse): Turn {
    if (this.#isClosing) return Promise.resolve(false);
    if (this.#isUpgrade && isInChunks(incoming)) {
      // A pause in its body would not be reported.
      this.#isClosing = true;
      outgoing.writeHead(411, { connection: 'close' }).end();
      return Promise.resolve(false);
    }
    // Not `once`, which takes longer (docs/performance.md).
    outgoing.on('close', this.#next);
    this.#last = incoming;
    const start = this.#wait();
    if (start === undefined) this.#inFlight = incoming;
    else if (this.#isUpgrade) {
      outgoing.shouldKeepAlive = false;
      this.#isClosing = true;
    }
    return start;
  }

  async enqueueRefusal(): Promise<boolean> {
    const last = this.#last;
    const isBetweenRequests = last === undefined || last.complete;
    if (isBetweenRequests || last === this.#inFlight) {
      this.#unparsed.drop();
      if (!isBetweenRequests) return true;
      this.#isClosing = true;
      return this.#wait() ?? true;
    }
    // The time limit of a queued request has passed while it was not read, so it begins again.
    await this.#queued?.promise;
    await setTimeout(this.#shared.requestTimeoutMs, undefined, { ref: false });
    return !last.complete;
  }

  keepUnparsed(error: PausedError): void {
    this.#unparsed.keep(error, this.#last);
    if (this.#last === this.#inFlight && !this.#isClosing) this.#unparsed.parse();
  }

  /** Starts what is queued and parses what follows it, when the client has read earlier responses. */
  readonly #next = () => {
    const socket = this.#socket;
    if (socket.writableNeedDrain) return void socket.once('drain', this.#next);
    const queued = this.#queued;
    this.#queued = undefined;
    this.#isBusy = queued !== undefined;
    this.#inFlight = this.#last;
    queued?.resolve(socket.writable);
    if (socket.writable) this.#unparsed.parse();
    else this.#unparsed.drop();
  };

  #wait(): Turn {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return undefined;
    }
    this.#queued ??= Promise.withResolvers();
    return this.#queued.promise;
  }
}

function isInChunks({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}
