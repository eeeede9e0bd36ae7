import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from '../../turns.ts';
import { pauseReading } from '../http/pause-reading.ts';

/** The most unparsed input of all connections, in bytes. Beyond it, connections are closed. */
const maxUnparsedBytes = 16 * 1024 * 1024;

/**
 * How much of a body in chunks is parsed at once, in bytes. It may contain 700 chunks, which take
 * about a millisecond.
 */
const sliceBytes = 4 * 1024;

/** This much of a body in chunks is parsed immediately, because it takes no more than a request. */
const freeBytes = 1024;

/** The error of a parser that was paused before the end of its input. */
export interface PausedError {
  readonly rawPacket: Buffer;
  readonly bytesParsed: number;
}

/** The parser of a server's socket, which Node does not document. */
export interface Parser {
  /** Called with the parsed headers. Returns what follows in the input, as a code of llhttp. */
  onIncoming(incoming: IncomingMessage & { upgrade: boolean }, keepAlive: boolean): number;
  pause(): void;
  resume(): void;
}

/** The socket of an HTTP server. */
export type ServerSocket = Socket & { readonly parser?: Parser | null };

/** The unparsed input of all connections. */
export interface SharedInput {
  bytes: number;
}

/** What was read from a connection while its parser was paused, or may not be parsed at once. */
export class UnparsedInput {
  readonly #socket: ServerSocket;
  readonly #shared: SharedInput;
  #bytes: Buffer | undefined;
  /** What the parser is parsing. */
  #slice: Buffer | undefined;
  /** The last request whose body arrives in chunks. */
  #chunked: IncomingMessage | undefined;
  /** Whether the parser was paused before what is read next. */
  #expectsBody = false;
  #isWaiting = false;
  #resumeReading: (() => void) | undefined;

  constructor(socket: ServerSocket, shared: SharedInput) {
    this.#socket = socket;
    this.#shared = shared;
  }

  /**
   * Called for a request whose body arrives in chunks. A read may contain ten thousand of them, so
   * the parser stays paused while reading.
   */
  expectChunks(incoming: IncomingMessage): void {
    this.#chunked = incoming;
  }

  /** Keeps what was read but not parsed when the parser reports that it is paused. */
  keep({ rawPacket, bytesParsed }: PausedError): void {
    if (rawPacket === this.#slice) return void this.#set(this.#bytes?.subarray(bytesParsed));
    // If Node reads while the parser is paused, the error does not say how much was parsed.
    if (this.#bytes !== undefined) return void this.#socket.destroy();
    this.#resumeReading ??= pauseReading(this.#socket);
    this.#set(this.#expectsBody ? rawPacket : restOf(rawPacket, bytesParsed));
    this.#expectsBody = false;
    if (this.#shared.bytes > maxUnparsedBytes) this.#socket.destroy();
  }

  /** Parses it until the parser pauses, a body in chunks slice by slice, then reads more. */
  parse(): void {
    if (!this.#isWaiting) this.#parse().catch(() => this.#socket.destroy());
  }

  /** Forgets it. */
  drop(): void {
    this.#set(undefined);
  }

  async #parse(): Promise<void> {
    while (this.#bytes !== undefined) {
      const chunked = this.#chunkedBody();
      if (chunked !== undefined && this.#bytes.length > freeBytes) {
        this.#isWaiting = true;
        await takeTurn(chunked.headers.authorization);
        this.#isWaiting = false;
      }
      const bytes = this.#bytes;
      if (bytes === undefined || !this.#socket.writable) return;
      const slice = chunked === undefined ? bytes : bytes.subarray(0, sliceBytes);
      this.#slice = slice;
      this.#socket.parser?.resume();
      this.#socket.emit('data', slice);
      this.#slice = undefined;
      // The parser has paused again, or refused the input.
      if (this.#bytes !== bytes) return;
      this.#set(slice.length < bytes.length ? bytes.subarray(slice.length) : undefined);
    }
    if (this.#resumeReading === undefined) return;
    if (this.#chunkedBody() !== undefined) {
      this.#expectsBody = true;
      this.#socket.parser?.pause();
    }
    this.#resumeReading();
    this.#resumeReading = undefined;
  }

  #chunkedBody(): IncomingMessage | undefined {
    return this.#chunked?.complete === false ? this.#chunked : undefined;
  }

  #set(bytes: Buffer | undefined): void {
    this.#shared.bytes += (bytes?.length ?? 0) - (this.#bytes?.length ?? 0);
    this.#bytes = bytes;
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
