import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { bodyRefused } from '../../http/body.ts';
import { Refusal } from '../../http/refuse.ts';
import { endOfTurn } from '../../limits/end-of-turn.ts';
import { keyOf } from '../../limits/key.ts';
import type { Release } from '../../limits/share.ts';
import { nextSlice } from '../../limits/slices.ts';
import type { ByteLimits } from '../byte-limits.ts';

/**
 * How long a client may take to send the headers of a request, to send all of it, and to read a
 * response that exceeds the socket's buffer, in milliseconds. If it reads nothing, Node reports it
 * after twice the time of `unread`.
 */
const limitsMs = { headers: 10_000, request: 15_000, unread: 15_000, reading: 300_000 };

/**
 * How long a connection may stay idle, in milliseconds: longer than the minute after which load
 * balancers close theirs. Otherwise a request could arrive on a connection that is being closed.
 */
export const idleMs = 75_000;

/**
 * A client that ends its side of the connection `within` milliseconds of its request may still read, and
 * has `grace` milliseconds for that. One that ends it later counts as disconnected.
 */
const halfClosedMs = { within: 20, grace: 1000 };

/**
 * In bytes. Reading pauses while more than `readAhead` is unparsed; beyond `free`, it counts in the limits.
 * A body in chunks is parsed one `slice` at a time: up to 350 chunks, or half a millisecond.
 */
const sizes = { readAhead: 16 * 1024, free: 1024, firstSlice: 1024, slice: 2048 };

const blankLine = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

/**
 * The stream between a socket and Node's HTTP parser. It passes on one request at a time, and
 * nothing that follows until the response has been sent: a read of 64 KiB may contain two thousand
 * requests, and Node would start them all. The file is long because its parts share that one state.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #limits: ByteLimits;
  /** What was read and not passed on. */
  #input: Buffer = nothing;
  /** The last bytes that were passed on, if a blank line may begin in them. */
  #tail = nothing;
  /** Whether the client has ended its side. */
  #hasEnded = false;
  /** Whether Node has not parsed all that was passed on. */
  #isParsing = false;
  /** Whether nothing may be passed on: after the first input, between slices, after a refusal. */
  #isWaiting = false;
  /** When the current request began, as a `performance.now()` timestamp; 0 between requests. */
  #startedAt = 0;
  #receivedAt = 0;
  #unreadAt = 0;
  #deadline = performance.now() + limitsMs.headers;
  #idleMs = idleMs;
  /** The response to the current request, once its headers are parsed. */
  #response: ServerResponse | undefined;
  #isInChunks = false;
  /** How many bytes of the body may be passed on: all, or a slice if it is in chunks. */
  #bytesLeft = 0;
  #releaseUnparsed: Release | undefined;
  #releaseUnread: Release | undefined;

  constructor(socket: Socket, limits: ByteLimits) {
    super({ decodeStrings: false });
    this.#socket = socket;
    this.#limits = limits;
    socket
      .setTimeout(limitsMs.unread)
      // A reset may follow the first input immediately. Node notices it within two turns.
      .once('data', () => this.#waitFor(endOfTurn().then(endOfTurn)))
      .on('data', this.#receive)
      .on('end', () => this.#end())
      .on('timeout', () => socket.writableLength > 0 && this.destroy())
      .on('error', () => this.destroy())
      .on('close', () => this.destroy());
  }

  /** Called when the headers of a request have been parsed. */
  start(response: ServerResponse): void {
    const { headers } = response.req;
    this.#response = response;
    this.#isInChunks = headers['transfer-encoding'] !== undefined;
    this.#bytesLeft = this.#isInChunks ? sizes.firstSlice : Number(headers['content-length'] ?? 0);
    this.#deadline = this.#startedAt + (this.#hasEnded ? halfClosedMs.grace : limitsMs.request);
  }

  /** Called when the response is complete, or its connection is closed. */
  finish(): void {
    this.#response = undefined;
    this.#startedAt = 0;
    this.#deadline = performance.now() + this.#idleMs;
    this.#proceed();
  }

  /** Refuses input that is malformed or late, and closes the connection. */
  refuse(status: number): void {
    if (this.writableEnded) return;
    const response = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
    this.end(this.#response?.headersSent ? undefined : response);
  }

  /** Closes the connection if its client is late. Call it repeatedly. */
  checkDeadline(now: number): void {
    const isUnread = this.#socket.writableLength > 0;
    if (isUnread && now - this.#unreadAt > limitsMs.reading) return void this.destroy();
    if (now < this.#deadline) return;
    const response = this.#response;
    if (response ? !response.req.complete : this.#startedAt > 0) this.refuse(408);
    else if (response === undefined || (this.#hasEnded && !response.headersSent)) this.destroy();
  }

  /** Closes the connection when it has been idle for `ms` milliseconds from now on. */
  closeIfIdle(ms: number): void {
    this.#idleMs = ms;
    if (this.#startedAt === 0) this.#deadline = Math.min(this.#deadline, performance.now() + ms);
  }

  override _read(): void {
    // The input is pushed when it may be parsed.
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }[],
    callback: (error?: Error | null) => void,
  ): void {
    const socket = this.#socket;
    const written = (error?: Error | null) => {
      this.#releaseUnread?.();
      this.#releaseUnread = undefined;
      if (socket.isPaused()) this.#proceed();
      callback(error);
    };
    // Only text: all responses share the same binary bodies.
    let textLength = 0;
    socket.cork();
    for (const [index, { chunk, encoding }] of chunks.entries()) {
      if (typeof chunk === 'string') textLength += chunk.length;
      socket.write(chunk, encoding, index === chunks.length - 1 ? written : undefined);
    }
    socket.uncork();
    this.#unreadAt = performance.now();
    const unread = Math.min(textLength, socket.writableLength);
    const taken = unread > 0 ? this.#limits.unreadBytes.take(this.#key(), unread) : undefined;
    if (typeof taken === 'string') this.destroy();
    else this.#releaseUnread = taken;
  }

  override _final(callback: () => void): void {
    this.#socket.destroySoon();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#socket.destroy();
    this.#input = nothing;
    this.#count();
    this.#releaseUnread?.();
    this.#releaseUnread = undefined;
    callback(error);
  }

  readonly #onParsed = (): void => {
    this.#isParsing = false;
    this.#proceed();
  };

  readonly #receive = (chunk: Buffer): void => {
    this.#receivedAt = performance.now();
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    this.#proceed();
  };

  #end(): void {
    this.#hasEnded = true;
    const now = performance.now();
    if (!this.#response?.req.complete) this.#proceed();
    else if (now - this.#receivedAt > halfClosedMs.within) this.destroy();
    else this.#deadline = now + halfClosedMs.grace;
  }

  async #waitFor(event: Promise<void>): Promise<void> {
    this.#isWaiting = true;
    await event;
    this.#isWaiting = false;
    this.#proceed();
  }

  #proceed(): void {
    if (this.destroyed) return;
    if (!this.#isParsing && !this.#isWaiting && !this.writableEnded) this.#passOn();
    // Little is read from a client that does not read, because input counts as activity.
    const isFull = this.#input.length > sizes.readAhead || this.#socket.writableLength > 0;
    if (isFull !== this.#socket.isPaused()) isFull ? this.#socket.pause() : this.#socket.resume();
  }

  /** Passes on the next slice of the input, unless it has to wait. */
  #passOn(): void {
    const response = this.#response;
    const isWhole = response?.req.complete === true;
    if (this.#input.length === 0) {
      if (this.#hasEnded && !isWhole) this.push(null);
      return;
    }
    if (isWhole) return void (this.#count() && this.destroy());
    if (response && this.#isInChunks && this.#bytesLeft <= 0) {
      this.#waitForSlice(response);
      return;
    }
    const end = this.#sliceEnd();
    this.#bytesLeft -= end;
    if (this.#startedAt === 0) {
      this.#startedAt = performance.now();
      this.#deadline = this.#startedAt + limitsMs.headers;
    }
    const slice = this.#input.subarray(0, end);
    this.#input = this.#input.subarray(end);
    if (this.#releaseUnparsed) this.#count();
    this.#isParsing = true;
    this.push(slice);
    // Node's listener runs first: it has parsed the slice, or will once Node resumes reading.
    if (this.readableLength === 0) this.#onParsed();
    else this.once('data', this.#onParsed);
  }

  /**
   * Returns the length of the next slice. Headers end with a blank line; a body in chunks has one
   * after its last chunk.
   */
  #sliceEnd(): number {
    const input = this.#input;
    const limit = this.#response ? Math.min(input.length, this.#bytesLeft) : input.length;
    if (this.#response && !this.#isInChunks) return limit;
    const tail = this.#tail;
    this.#tail = nothing;
    if (tail.length > 0) {
      const across = Buffer.concat([tail, input.subarray(0, 3)]).indexOf(blankLine);
      if (across >= 0) return across + blankLine.length - tail.length;
    }
    const end = input.indexOf(blankLine);
    if (end >= 0 && end + blankLine.length <= limit) return end + blankLine.length;
    this.#tail = Buffer.concat([tail, input.subarray(Math.max(0, limit - 3), limit)]).subarray(-3);
    return limit;
  }

  #waitForSlice({ req }: ServerResponse): void {
    this.#isWaiting = true;
    const refused = this.#count();
    if (refused) {
      const reason = refused === 'key' ? 'unparsed_bytes_of_key' : 'unparsed_bytes';
      return void req.emit(bodyRefused, new Refusal(reason));
    }
    this.#bytesLeft = sizes.slice;
    this.#waitFor(nextSlice(this.#key()));
  }

  /** Counts the input as unparsed, or no longer. Returns the limit that it exceeds, if any. */
  #count(): 'key' | 'all' | undefined {
    this.#releaseUnparsed?.();
    this.#releaseUnparsed = undefined;
    const { length, buffer } = this.#input;
    if (length <= sizes.free) return undefined;
    // Otherwise a small remainder would keep all that was read with it in memory.
    if (2 * length < buffer.byteLength) this.#input = Buffer.from(this.#input);
    const taken = this.#limits.unparsedBytes.take(this.#key(), length);
    if (typeof taken === 'string') return taken;
    this.#releaseUnparsed = taken;
    return undefined;
  }

  #key(): number {
    return keyOf(this.#response?.req.headers.authorization);
  }
}
