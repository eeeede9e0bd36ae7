import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { pauseReading } from '../http/pause-reading.ts';

/** The most unparsed input of all connections, in bytes. Beyond it, connections are closed. */
const maxUnparsedBytes = 16 * 1024 * 1024;

/**
 * Undefined if a request can be handled immediately; otherwise resolves when it can, to whether the
 * client is still connected.
 */
export type Turn = Promise<boolean> | undefined;

/** The error of a parser that was paused before the end of its input. */
export interface PausedError {
  readonly rawPacket: Buffer;
  readonly bytesParsed: number;
}

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
export function createPipelineQueues(requestTimeoutMs: number): PipelineQueues {
  const queues = new WeakMap<Socket, PipelineQueue>();
  const shared = { unparsedBytes: 0, requestTimeoutMs };

  return {
    open: (socket) => void queues.set(socket, new PipelineQueue(socket, shared)),
    enqueue: (incoming, outgoing) => queues.get(incoming.socket)?.enqueue(incoming, outgoing),
    enqueueRefusal: async (socket) => queues.get(socket)?.enqueueRefusal() ?? true,
    keepUnparsed: (error, socket) => queues.get(socket)?.keepUnparsed(error),
  };
}

/** The parser of a server's socket, which Node does not document. */
interface Parser {
  /** Called with the parsed headers. Returns what follows in the input, as a code of llhttp. */
  onIncoming(incoming: IncomingMessage & { upgrade: boolean }, keepAlive: boolean): number;
  resume(): void;
}

/** The code of llhttp by which a parser pauses: it reports the rest of its input in an error. */
const paused = 21;

/** What the queues of all connections share. */
interface Shared {
  /** The unparsed input of all connections. */
  unparsedBytes: number;
  /** The time to send a request, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** The requests of one connection: one in flight, one queued. */
class PipelineQueue {
  readonly #socket: Socket & { readonly parser?: Parser | null };
  readonly #shared: Shared;
  /** Behind the queued request, while the parser is paused. */
  #unparsed: Buffer | undefined;
  #isBusy = false;
  /** Whether the connection closes after what is queued. */
  #isClosing = false;
  /** Whether the last request asks for an upgrade: the parser does not report a pause in it. */
  #isUpgrade = false;
  #inFlight: IncomingMessage | undefined;
  /** In flight or queued. */
  #last: IncomingMessage | undefined;
  #queued: PromiseWithResolvers<boolean> | undefined;
  #resumeReading: (() => void) | undefined;

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket;
    this.#shared = shared;
    const { parser } = this.#socket;
    if (!parser) return;
    const { onIncoming } = parser;
    parser.onIncoming = (incoming, keepAlive) => {
      // Node resets it, because the server handles no upgrades.
      this.#isUpgrade = incoming.upgrade;
      const code = onIncoming(incoming, keepAlive);
      if (this.#isUpgrade) return code;
      // Node itself refuses a request without a Host.
      if (incoming !== this.#last) this.#isClosing = true;
      return incoming === this.#inFlight ? code : paused;
    };
    socket.once('close', this.#next);
  }

  enqueue(incoming: IncomingMessage, outgoing: ServerResponse): Turn {
    if (this.#isClosing) return Promise.resolve(false);
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
    if (last === undefined || last.complete) {
      this.#isClosing = true;
      return this.#wait() ?? true;
    }
    if (last === this.#inFlight) return true;
    // The time limit of a queued request has passed while it was not read, so it begins again.
    await this.#queued?.promise;
    await setTimeout(this.#shared.requestTimeoutMs, undefined, { ref: false });
    return !last.complete;
  }

  keepUnparsed({ rawPacket, bytesParsed }: PausedError): void {
    // If Node reads while the parser is paused, the error does not say how much was parsed.
    if (this.#unparsed !== undefined) return void this.#socket.destroy();
    this.#resumeReading ??= pauseReading(this.#socket);
    this.#unparsed = restOf(rawPacket, bytesParsed);
    this.#shared.unparsedBytes += this.#unparsed.length;
    if (this.#shared.unparsedBytes > maxUnparsedBytes) this.#socket.destroy();
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
    const unparsed = this.#unparsed;
    if (unparsed === undefined) return;
    this.#unparsed = undefined;
    this.#shared.unparsedBytes -= unparsed.length;
    if (!socket.writable) return;
    socket.parser?.resume();
    socket.emit('data', unparsed);
    if (this.#unparsed !== undefined) return;
    this.#resumeReading?.();
    this.#resumeReading = undefined;
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

/**
 * Returns the rest of what was read, as a copy if it is the smaller part: it would hold all in
 * memory. An empty rest stays a part of a buffer, because Node's parser takes any other empty buffer
 * for the end of the connection.
 */
function restOf(rawPacket: Buffer, bytesParsed: number): Buffer {
  const isLarge = (rawPacket.length - bytesParsed) * 2 > rawPacket.buffer.byteLength;
  if (isLarge) return rawPacket.subarray(bytesParsed);
  return Buffer.from(rawPacket.subarray(bytesParsed - 1)).subarray(1);
}
