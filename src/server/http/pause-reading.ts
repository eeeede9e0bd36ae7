import type { Socket } from 'node:net';

/**
 * Stops reading from a server's socket until the returned function is called. `pause` alone does
 * not last: Node resumes the socket whenever it has parsed a request or emitted a chunk of a body.
 * If the socket was paused between `resume` and its event, `pause` has no effect, but Node reads.
 */
export function pauseReading(socket: Socket): () => void {
  const pause = () => {
    if (socket.isPaused()) socket.emit('pause');
    else socket.pause();
  };
  socket.on('resume', pause);
  pause();
  return () => {
    socket.off('resume', pause);
    socket.resume();
  };
}
