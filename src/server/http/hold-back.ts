import type { Socket } from 'node:net';

/**
 * Reads nothing more from the socket of a server until the returned function is called. A `pause` alone
 * does not last: Node resumes the socket whenever it has parsed a request or passed on a part of a body.
 */
export function holdBack(socket: Socket): () => void {
  const pause = () => socket.pause();
  socket.on('resume', pause);
  pause();
  return () => {
    socket.off('resume', pause);
    socket.resume();
  };
}
