import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** A received response. Texts have one byte per character. */
export interface ReceivedResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How long a connection may stay open after the last byte was sent, in milliseconds. */
const timeoutMs = 15_000;

/**
 * Writes parts separately to one connection. @returns everything received until the server closes
 * it. If the server does not close it in time, the result is not a valid response.
 */
export async function sendParts(url: string, parts: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  let received = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // A server that has closed the connection resets it when further bytes arrive.
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
  const timeout = setTimeout(() => {
    received += ' and the connection was never closed';
    socket.destroy();
  }, timeoutMs);
  await closed;
  clearTimeout(timeout);
  return received;
}

/** Parses the responses to requests with these methods. @throws if the text is anything else. */
export function parseResponses(
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
    // Node's own response to a request without a Host has no Content-Length.
    const length = headers['content-length'] ?? (headers['transfer-encoding'] ? '5' : '0');
    const body = hasBody ? received.slice(start, start + Number(length)) : '';
    responses.push({ status, headers, body });
    start += body.length;
  }
  return responses;
}
