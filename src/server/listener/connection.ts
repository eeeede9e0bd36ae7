import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Refusal } from '../../http/refuse.ts';
import { endOfTurn } from '../../limits/end-of-turn.ts';
import { keyOf } from '../../limits/key.ts';
import type { Release } from '../../limits/share.ts';
import { nextSlice } from '../../limits/slices.ts';
import type { ByteLimits } from '../byte-limits.ts';
import { bodyRefused } from '../http/node.ts';

/** How long a client may take to send the headers of a request, in milliseconds. */
const headersMs = 10_000;

/** How long it may take to send the whole request. */
const requestMs = 15_000;

/** How long it may read nothing of a response that exceeds the socket's buffer. */
const unreadMs = 30_000;

/**
 * How long a connection may stay open between requests, in milliseconds. Load balancers close idle
 * connections after a minute. If the gateway closed them first, a request could arrive on a
 * connection that is being closed.
 */
export const idleMs = 75_000;

/**
 * A client that ends its side of the connection within `halfCloseMs` of its request may still read:
 * it has `halfClosedMs` to receive its response. A client that ends it later has left.
 */
const halfCloseMs = 20;
const halfClosedMs = 1000;

/** The most bytes that are read while a request is in flight; more are left in the socket. */
const readAheadBytes = 16 * 1024;

/** As much of it per connection is not limited in total. */
const unkeptBytes = 1024;

/**
 * How much of a body in chunks is parsed immediately, and how much in each slice after that, in
 * bytes. Two KiB are up to 350 chunks, which take half a millisecond.
 */
const firstSliceBytes = 1024;
const sliceBytes = 2 * 1024;

const blankLine = '\r\n\r\n';
const nothing = Buffer.alloc(0);

type Chunk = { readonly chunk: Buffer | string; readonly encoding: BufferEncoding };
type Callback = (error?: Error | null) => void;

/**
 * The stream between a socket and Node's HTTP parser. It passes on one request at a time, and
 * nothing that follows until the response has been sent: a read of 64 KiB may contain two thousand
 * requests, and Node would start them all.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #limits: ByteLimits;
  /** What was read and not passed on. */
  #input: Buffer = nothing;
  /** The last characters that were passed on, if a blank line may begin in them. */
  #tail = '';
  /** Whether the client has ended its side of the connection. */
  #hasEnded = false;
  /** Whether Node has not parsed all that was passed on. */
  #isParsing = false;
  /** When the current request began, as a `performance.now()` timestamp; 0 between requests. */
  #startedAt = 0;
  /** When the client must have sent the request, or must begin one. */
  #deadline = performance.now() + headersMs;
  /** The response to the request in flight; undefined until the request's headers are parsed. */
  #response: ServerResponse | undefined;
  #isInChunks = false;
  /** The rest of the body, or of this slice if the body is in chunks, in bytes. */
  #bytesLeft = 0;
  /** Whether nothing has been received. */
  #isNew = true;
  /** Whether the first input or the next slice of a body waits, or a body was refused. */
  #isWaiting = false;
  #releaseUnparsed: Release | undefined;
  /** Whether the client has not read all that was written. */
  #isUnread = false;
  #releaseUnread: Release | undefined;

  constructor(socket: Socket, limits: ByteLimits) {
    super({ decodeStrings: false });
    this.#socket = socket;
    this.#limits = limits;
    socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('end', () => this.#end())
      .on('timeout', () => this.destroy())
      .on('error', () => this.destroy())
      .on('close', () => this.destroy());
  }

  /** Called when the headers of a request have been parsed. */
  start(response: ServerResponse): void {
    const { headers } = response.req;
    this.#response = response;
    this.#deadline = this.#startedAt + (this.#hasEnded ? halfClosedMs : requestMs);
    this.#isInChunks = headers['transfer-encoding'] !== undefined;
    this.#bytesLeft = this.#isInChunks ? firstSliceBytes : Number(headers['content-length'] ?? 0);
    response.on('close', () => {
      this.#response = undefined;
      this.#startedAt = 0;
      this.#deadline = performance.now() + idleMs;
      this.#proceed();
    });
  }

  /** Refuses input that is malformed or late, and closes the connection. */
  refuse(status: number): void {
    if (this.writableEnded) return;
    const response = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
    this.end(this.#response?.headersSent ? undefined : response);
  }

  /** Closes the connection if its client is late. Call it every second or so. */
  checkDeadline(now: number): void {
    if (now < this.#deadline) return;
    const response = this.#response;
    if (response ? !response.req.complete : this.#startedAt > 0) this.refuse(408);
    else if (response === undefined || this.#hasEnded) this.destroy();
  }

  /** Closes the connection after `ms` milliseconds if no request arrives. */
  closeIfIdle(ms: number): void {
    if (this.#startedAt > 0) return;
    this.#deadline = Math.min(this.#deadline, performance.now() + ms);
  }

  /** Called when Node has parsed what was passed on. */
  readonly onParsed = (): void => {
    this.#isParsing = false;
    this.#proceed();
  };

  override _read(): void {
    // The input is passed on by `push` when it may be parsed.
  }

  override _writev(chunks: Chunk[], callback: Callback): void {
    const socket = this.#socket;
    const last = chunks.length - 1;
    const written: Callback = (error) => {
      if (this.#isUnread) this.#endUnread();
      callback(error);
    };
    if (last > 0) socket.cork();
    for (const [index, { chunk, encoding }] of chunks.entries()) {
      socket.write(chunk, encoding, index === last ? written : undefined);
    }
    if (last > 0) socket.uncork();
    // All responses share the same binary bodies.
    if (socket.writableLength > 0) this.#startUnread(typeof chunks[last]?.chunk === 'string');
  }

  override _final(callback: Callback): void {
    this.#socket.destroySoon();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#socket.destroy();
    this.#releaseUnparsed?.();
    this.#releaseUnread?.();
    callback(error);
  }

  #receive(chunk: Buffer): void {
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    if (this.#isNew) this.#waitForReset();
    this.#proceed();
  }

  /** Waits until a reset that follows the first input would be noticed. */
  async #waitForReset(): Promise<void> {
    this.#isNew = false;
    this.#isWaiting = true;
    await endOfTurn();
    await endOfTurn();
    this.#isWaiting = false;
    this.#proceed();
  }

  #end(): void {
    this.#hasEnded = true;
    const now = performance.now();
    if (!this.#response?.req.complete) this.#proceed();
    else if (now - this.#startedAt > halfCloseMs) this.destroy();
    else this.#deadline = now + halfClosedMs;
  }

  #proceed(): void {
    if (!this.#isParsing && !this.#isWaiting && !this.writableEnded && !this.destroyed) {
      this.#passOn();
    }
    const isFull = this.#isUnread || this.#input.length > readAheadBytes;
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
    if (isWhole) {
      if (this.#keep() !== undefined) this.destroy();
      return;
    }
    if (response && this.#isInChunks && this.#bytesLeft <= 0) {
      this.#waitForSlice(response);
      return;
    }
    const end = this.#sliceEnd();
    if (response) this.#bytesLeft -= end;
    else if (this.#startedAt === 0) {
      this.#startedAt = performance.now();
      this.#deadline = this.#startedAt + headersMs;
    }
    const slice = this.#input.subarray(0, end);
    this.#input = this.#input.subarray(end);
    if (this.#releaseUnparsed && this.#input.length <= unkeptBytes) {
      this.#releaseUnparsed();
      this.#releaseUnparsed = undefined;
    }
    this.#isParsing = true;
    this.push(slice);
  }

  /**
   * Returns the length of the next slice. Headers end with a blank line; a body in chunks has one
   * after its last chunk.
   */
  #sliceEnd(): number {
    const input = this.#input;
    const isBody = this.#response !== undefined;
    const limit = isBody ? Math.min(input.length, this.#bytesLeft) : input.length;
    if (isBody && !this.#isInChunks) return limit;
    const tail = this.#tail;
    this.#tail = '';
    const across = tail === '' ? -1 : (tail + input.toString('latin1', 0, 3)).indexOf(blankLine);
    if (across >= 0) return across + blankLine.length - tail.length;
    const end = input.subarray(0, limit).indexOf(blankLine);
    if (end >= 0) return end + blankLine.length;
    this.#tail = (tail + input.toString('latin1', Math.max(0, limit - 3), limit)).slice(-3);
    return limit;
  }

  /** Counts the input as kept. Returns the limit that it exceeds, if any. */
  #keep(): 'key' | 'all' | undefined {
    this.#releaseUnparsed?.();
    this.#releaseUnparsed = undefined;
    if (this.#input.length <= unkeptBytes) return undefined;
    // A small rest would keep all that was read with it in memory.
    if (2 * this.#input.length < this.#input.buffer.byteLength)
      this.#input = Buffer.from(this.#input);
    const taken = this.#limits.unparsedBytes.take(this.#key(), this.#input.length);
    if (typeof taken === 'string') return taken;
    this.#releaseUnparsed = taken;
    return undefined;
  }

  async #waitForSlice({ req }: ServerResponse): Promise<void> {
    this.#isWaiting = true;
    const refused = this.#keep();
    if (refused !== undefined) {
      const reason = refused === 'key' ? 'unparsed_bytes_of_key' : 'unparsed_bytes';
      return void req.emit(bodyRefused, new Refusal(reason));
    }
    await nextSlice(this.#key());
    this.#isWaiting = false;
    this.#bytesLeft = sliceBytes;
    this.#proceed();
  }

  /** Waits for the client to read. It may not send meanwhile, because that counts as activity. */
  #startUnread(isText: boolean): void {
    this.#isUnread = true;
    this.#socket.setTimeout(unreadMs).pause();
    const taken = isText && this.#limits.unreadBytes.take(this.#key(), this.#socket.writableLength);
    if (typeof taken === 'string') this.destroy();
    else if (taken) this.#releaseUnread = taken;
  }

  #endUnread(): void {
    this.#isUnread = false;
    this.#socket.setTimeout(0);
    this.#releaseUnread?.();
    this.#releaseUnread = undefined;
    this.#proceed();
  }

  #key(): number {
    return keyOf(this.#response?.req.headers.authorization);
  }
}
