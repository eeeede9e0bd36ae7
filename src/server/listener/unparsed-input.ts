import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../http/refuse.ts';
import { keyOf } from '../../limits/key.ts';
import type { Release, Share } from '../../limits/share.ts';
import { nextSlice } from '../../limits/slices.ts';
import { bodyRefused } from '../http/node.ts';
import { pauseReading } from '../http/pause-reading.ts';

/** How long a body in chunks is parsed at once, in milliseconds. */
const sliceMs = 1;

/** How much is parsed before the time is read, in bytes: up to 350 chunks, or half a millisecond. */
const sliceBytes = 2 * 1024;

/** This much of a body in chunks is parsed immediately, because it takes no more than a request. */
const freeBytes = 1024;

/** The error of a parser that was paused before the end of its input. */
export interface PausedError {
  readonly rawPacket: Buffer;
  readonly bytesParsed: number;
}

/** The parser of a server's socket, which Node does not document. */
interface Parser {
  /** Called with the parsed headers. Returns what follows in the input, as a code of llhttp. */
  onIncoming(incoming: IncomingMessage & { upgrade: boolean }, keepAlive: boolean): number;
  pause(): void;
  resume(): void;
}

/** The socket of an HTTP server. */
export type ServerSocket = Socket & { readonly parser?: Parser | null };

/** What was read from a connection while its parser was paused, or may not be parsed at once. */
export class UnparsedInput {
  readonly #socket: ServerSocket;
  readonly #unparsedBytes: Share;
  #bytes: Buffer | undefined;
  /** The key that the bytes count for. */
  #key = 0;
  #release: Release | undefined;
  /** What the parser is parsing. */
  #slice: Buffer | undefined;
  /** The last request whose body arrives in chunks. */
  #chunked: IncomingMessage | undefined;
  /** Whether the parser was paused before what is read next. */
  #expectsBody = false;
  #isWaiting = false;
  #resumeReading: (() => void) | undefined;

  constructor(socket: ServerSocket, unparsedBytes: Share) {
    this.#socket = socket;
    this.#unparsedBytes = unparsedBytes;
    // Before Node's own listener, which does not notice a truncated body while the parser is paused.
    socket.prependListener('end', () => {
      if (this.#expectsBody) socket.parser?.resume();
    });
  }

  /**
   * Called for a request whose body arrives in chunks. A read may contain ten thousand of them, so
   * the parser stays paused while reading.
   */
  expectChunks(incoming: IncomingMessage): void {
    this.#chunked = incoming;
  }

  /**
   * Keeps what was read but not parsed when the parser reports that it is paused. It counts
   * for the request's key. If there is too much, a body in chunks is refused; otherwise the
   * connection is closed.
   */
  keep({ rawPacket, bytesParsed }: PausedError, request: IncomingMessage | undefined): void {
    const bytes = this.#bytes;
    if (bytes !== undefined) {
      if (rawPacket === this.#slice) this.#shrink(restOf(bytes, bytesParsed));
      // If Node reads while the parser is paused, the error does not say how much was parsed.
      else this.#socket.destroy();
      return;
    }
    const rest = this.#expectsBody ? rawPacket : restOf(rawPacket, bytesParsed);
    this.#expectsBody = false;
    this.#key = keyOf(request?.headers.authorization);
    const taken = this.#unparsedBytes.take(this.#key, rest.length);
    if (typeof taken === 'string') return void this.#refuse(taken);
    this.#release = taken;
    this.#bytes = rest;
    this.#resumeReading ??= pauseReading(this.#socket);
  }

  /** Parses it until the parser pauses, a body in chunks for `sliceMs` per turn, then reads more. */
  parse(): void {
    if (!this.#isWaiting) this.#parse().catch(() => this.#socket.destroy());
  }

  /** Forgets it. */
  drop(): void {
    this.#shrink(undefined);
  }

  async #parse(): Promise<void> {
    while (this.#bytes !== undefined) {
      const chunked = this.#chunkedBody();
      if (chunked !== undefined && this.#bytes.length > freeBytes) {
        this.#isWaiting = true;
        await nextSlice(keyOf(chunked.headers.authorization));
        this.#isWaiting = false;
      }
      const end = performance.now() + sliceMs;
      do {
        if (!this.#parseSlice()) return;
      } while (this.#bytes !== undefined && performance.now() < end);
    }
    if (this.#resumeReading === undefined) return;
    if (this.#chunkedBody() !== undefined) {
      this.#expectsBody = true;
      this.#socket.parser?.pause();
    }
    this.#resumeReading();
    this.#resumeReading = undefined;
  }

  /** Returns false if the parser has paused again, or the connection is closed or refused. */
  #parseSlice(): boolean {
    const bytes = this.#bytes;
    if (bytes === undefined || !this.#socket.writable) return false;
    const slice = this.#chunkedBody() === undefined ? bytes : bytes.subarray(0, sliceBytes);
    this.#slice = slice;
    this.#socket.parser?.resume();
    this.#socket.emit('data', slice);
    this.#slice = undefined;
    if (this.#bytes !== bytes) return false;
    this.#shrink(slice.length < bytes.length ? bytes.subarray(slice.length) : undefined);
    return true;
  }

  #refuse(exceeded: 'key' | 'all'): void {
    const refusal = new Refusal(exceeded === 'key' ? 'unparsed_bytes_of_key' : 'unparsed_bytes');
    if (!this.#chunkedBody()?.emit(bodyRefused, refusal)) this.#socket.destroy();
  }

  #chunkedBody(): IncomingMessage | undefined {
    return this.#chunked?.complete === false ? this.#chunked : undefined;
  }

  #shrink(bytes: Buffer | undefined): void {
    this.#release?.();
    const taken = bytes && this.#unparsedBytes.take(this.#key, bytes.length);
    this.#release = typeof taken === 'function' ? taken : undefined;
    this.#bytes = bytes;
  }
}

/**
 * Returns the rest of what was read, as a copy if it is the smaller part: it would hold all in
 * memory. An empty rest stays a part of a buffer, because Node's parser takes any other empty buffer
 * for the end of the connection.
 */
function restOf(bytes: Buffer, bytesParsed: number): Buffer {
  const isLarge = (bytes.length - bytesParsed) * 2 > bytes.buffer.byteLength;
  if (isLarge) return bytes.subarray(bytesParsed);
  return Buffer.from(bytes.subarray(bytesParsed - 1)).subarray(1);
}
