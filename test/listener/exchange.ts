import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** A response as it came over a connection. Texts hold one byte per character. */
export interface ReceivedResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How long a connection may stay open after the last byte was sent, in milliseconds. */
const patienceMs = 15_000;

/**
 * Sends parts over one connection, each in a write of its own, and returns all that comes back until
 * the server closes the connection. One that it does not close makes the text no response.
 */
export async function exchange(url: string, parts: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  let received = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // A server that has closed the connection resets what is still on its way to it.
  socket.on('error', () => {}).setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
  });
  await once(socket, 'connect');
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part, 'latin1');
    await turn();
  }
  const late = setTimeout(() => {
    received += ' and the connection was never closed';
    socket.destroy();
  }, patienceMs);
  await closed;
  clearTimeout(late);
  return received;
}

/** Reads responses one after the other, to requests of these methods. @throws when they are not responses. */
export function readResponses(
  received: string,
  methods: readonly string[],
): readonly ReceivedResponse[] {
  const responses: ReceivedResponse[] = [];
  let start = 0;
  while (start < received.length) {
    const end = received.indexOf('\r\n\r\n', start);
    const [statusLine = '', ...lines] = received.slice(start, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (end < 0 || Number.isNaN(status)) {
      throw new Error(`Expected a response, received ${JSON.stringify(received.slice(start))}`);
    }
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    start = end + 4;
    if (status === 100) continue;
    const hasBody = methods[responses.length] !== 'HEAD' && status !== 204 && status !== 304;
    // Node's own answer to a request without a Host has no Content-Length.
    const length = headers['content-length'] ?? (headers['transfer-encoding'] ? '5' : '0');
    const body = hasBody ? received.slice(start, start + Number(length)) : '';
    responses.push({ status, headers, body });
    start += body.length;
  }
  return responses;
}
