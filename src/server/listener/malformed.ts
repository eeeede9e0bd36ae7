import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { holdBack } from '../http/hold-back.ts';
import type { Turns } from './one-at-a-time.ts';

/** By the code of Node's error; any other is a request that breaks the grammar. */
const statuses = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
]);

/**
 * Answers what is no request, or one for a tunnel, when the requests before it on its connection are
 * answered, and closes the connection. Node itself answers at once, and the client takes that for the
 * response to a request in flight.
 */
export async function refuseMalformed(
  code: string | undefined,
  socket: Socket,
  turns: Turns,
): Promise<void> {
  // Node listens no longer where it has seen a request for a tunnel.
  socket.on('error', () => {});
  holdBack(socket);
  const turn = turns.takeLast(socket);
  if (turn !== undefined) await turn;
  if (!socket.writable) return void socket.destroy();
  const status = statuses.get(code ?? '') ?? 400;
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}
