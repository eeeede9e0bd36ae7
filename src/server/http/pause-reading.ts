import type { Socket } from 'node:net';

/**
 * Stops reading from a server's socket until the returned function is called. `pause` alone does
 * not last: Node resumes the socket whenever it has parsed a request or emitted a chunk of a body.
 */
export function pauseReading(socket: Socket): () => void {
  const pause = () => socket.pause();
  socket.on('resume', pause);
  pause();
  return () => {
    socket.off('resume', pause);
    socket.resume();
  };
}
