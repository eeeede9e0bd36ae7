import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { pauseReading } from '../http/pause-reading.ts';
import type { PipelineQueues } from './pipeline-queues.ts';

/** By the code of Node's error. Any other code means invalid syntax: 400. */
const statuses = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
]);

/**
 * Refuses a malformed request or a CONNECT request and closes the connection, after the earlier
 * requests on it have their responses. Node would respond immediately, and the client would take
 * that for the response to a request in flight.
 */
export async function refuseMalformed(
  code: string | undefined,
  socket: Socket,
  queues: PipelineQueues,
): Promise<void> {
  // Node removes its error listener after a CONNECT request.
  if (socket.listenerCount('error') === 0) socket.on('error', () => {});
  // After a time limit there may be unparsed input.
  if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') pauseReading(socket);
  if (!(await queues.enqueueRefusal(socket))) return;
  if (!socket.writable) return void socket.destroy();
  const status = statuses.get(code ?? '') ?? 400;
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}
