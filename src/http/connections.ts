import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Metrics } from '../telemetry/metrics.ts';

/** A connection with this many unanswered requests is closed when it receives another one. */
const maxUnanswered = 8;

/** The fraction of connections that are closed together to make room, because finding them takes a millisecond. */
const room = 0.01;

/** A connection that has sent nothing for this long makes room, in milliseconds. */
const silentMs = 1000;

/** How long to wait after no connection could make room, in milliseconds. */
const pauseMs = 100;

class Connection {
  /** With HTTPS, the encrypted socket once its handshake is complete, and the one that it replaced. */
  socket: Socket;
  plain: Socket | undefined;
  unanswered = 0;
  /** The last request, until it is answered. */
  last: IncomingMessage | undefined;
  hasBeenAnswered = false;
  /** What the client had sent when the connection was last looked at. */
  bytesRead = 0;
  /** When it was opened, or its last response was complete. */
  freeAt = performance.now();
  /** When it was last seen to have sent something. */
  activeAt = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Whether nothing was received for a second, as far as the connection was looked at. */
  isSilentSince(now: number): boolean {
    const { bytesRead } = this;
    this.bytesRead = this.socket.bytesRead;
    // What an idle connection has received is older than its last response.
    const isIdle = this.hasBeenAnswered && this.unanswered === 0;
    if (this.bytesRead !== bytesRead && !isIdle) this.activeAt = now;
    return now - Math.max(this.activeAt, this.freeAt) >= silentMs;
  }
}

/**
 * The open connections of a server. At their limit, those whose clients wait for nothing make room for
 * new ones: first those that were silent for a second without ever having been answered, then other
 * silent ones, then idle ones. If there are none, the requests that have been arriving for longest do.
 */
export class Connections {
  /** Set while the server closes. Responses wait for it: clients open connections after each. */
  portClosed: Promise<void> | undefined;
  readonly #open = new Map<Socket, Connection>();
  readonly #maxConnections: number;
  readonly #metrics: Metrics | undefined;
  readonly #unreadMs: number;
  #fullAt = Number.NEGATIVE_INFINITY;
  #isPaused = false;

  /** @param unreadMs how long a client may read nothing of a response that exceeds the socket's buffer */
  constructor(maxConnections: number, metrics?: Metrics, unreadMs = 15_000) {
    this.#maxConnections = maxConnections;
    this.#metrics = metrics;
    this.#unreadMs = unreadMs;
    metrics?.connections({}, () => this.#open.size);
  }

  /** Adds a connection that was accepted, or closes it if there are too many. */
  add(socket: Socket): void {
    if (this.#open.size >= this.#maxConnections && !this.#makeRoom()) {
      this.#metrics?.refusedConnections.inc();
      socket.destroy();
      return;
    }
    this.#open.set(socket, new Connection(socket));
    socket.on('close', () => this.#open.delete(socket));
  }

  /**
   * Replaces a connection by its encrypted socket. Node does not say which belong together; those of a
   * Unix domain socket have no address, so it may be the one of a client that has not begun its handshake.
   */
  secure(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    for (const [plain, connection] of this.#open) {
      const isSame = plain.remotePort === remotePort && plain.remoteAddress === remoteAddress;
      if (!isSame || connection.plain !== undefined) continue;
      this.#open.delete(plain);
      this.#open.set(socket, connection);
      connection.socket = socket;
      connection.plain = plain;
      socket.on('close', () => this.#open.delete(socket));
      return;
    }
  }

  /** Adds a request. Returns false, and closes its connection, if that has too many. */
  start(incoming: IncomingMessage): boolean {
    const connection = this.#open.get(incoming.socket);
    if (connection === undefined) return false;
    if (connection.unanswered === maxUnanswered) {
      this.#closeFlooded(incoming.socket);
      return false;
    }
    connection.unanswered++;
    connection.last = incoming;
    return true;
  }

  /** Removes a request whose response is complete. */
  end(incoming: IncomingMessage): void {
    const connection = this.#open.get(incoming.socket);
    if (connection === undefined) return;
    connection.unanswered--;
    if (connection.last === incoming) connection.last = undefined;
    connection.hasBeenAnswered = true;
    connection.freeAt = performance.now();
  }

  /** Whether no other request has followed on its connection. */
  isLast(incoming: IncomingMessage): boolean {
    return this.#open.get(incoming.socket)?.last === incoming;
  }

  /** Limits how long a client may leave unread what is being written. Node ends it with the response. */
  watch(socket: Socket): void {
    socket.setTimeout(this.#unreadMs);
  }

  /** Closes an inactive connection, unless its client has read all and waits for a response. */
  readonly closeInactive = (socket: Socket): void => {
    const isAwaited = (this.#open.get(socket)?.unanswered ?? 0) > 0;
    if (!isAwaited || socket.writableLength > 0) this.#close(socket);
  };

  closeAll(): void {
    for (const [socket, { plain }] of this.#open) {
      this.#close(socket);
      plain?.destroy();
    }
  }

  #close(socket: Socket): void {
    this.#open.delete(socket);
    socket.destroy();
  }

  /**
   * Closes a connection that has sent hundreds of pipelined requests, and reads no other one in this
   * turn of the event loop: Node keeps those requests until its end, and needs milliseconds for them.
   */
  #closeFlooded(socket: Socket): void {
    this.#close(socket);
    if (this.#isPaused) return;
    this.#isPaused = true;
    const isRead = ({ socket: other }: Connection) => !other.isPaused();
    // Read again in this order: those that were answered before, and those that were opened last.
    const paused = [...this.#open.values()].filter(isRead).reverse();
    paused.sort((a, b) => Number(b.hasBeenAnswered) - Number(a.hasBeenAnswered));
    for (const { socket: other } of paused) other.pause();
    // Two turns, because the system keeps the order of connections that are read in the next one.
    turn()
      .then(() => turn())
      .then(() => {
        this.#isPaused = false;
        for (const { socket: other } of paused) other.resume();
      });
  }

  /** Returns whether connections were closed to make room. */
  #makeRoom(): boolean {
    const now = performance.now();
    if (now - this.#fullAt < pauseMs) return false;
    const ranks: [never: Connection[], silent: Connection[], idle: Connection[]] = [[], [], []];
    const arriving: Connection[] = [];
    for (const connection of this.#open.values()) {
      const { unanswered, last, hasBeenAnswered } = connection;
      const isSilent = connection.isSilentSince(now);
      // A client that has sent its request waits for the response.
      if (unanswered > 1 || last?.complete) continue;
      if (isSilent) ranks[hasBeenAnswered ? 1 : 0].push(connection);
      else if (hasBeenAnswered && unanswered === 0) ranks[2].push(connection);
      else arriving.push(connection);
    }
    const inactive = ranks.flat();
    const all = inactive.length > 0 ? inactive : arriving.sort((a, b) => a.freeAt - b.freeAt);
    const closed = all.slice(0, Math.ceil(room * this.#maxConnections));
    for (const { socket } of closed) this.#close(socket);
    this.#metrics?.displacedConnections.inc(closed.length);
    if (closed.length === 0) this.#fullAt = now;
    return closed.length > 0;
  }
}
