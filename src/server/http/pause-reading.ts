import type { Socket } from 'node:net';

/**
 * Stops reading from a server's socket until the returned function is called. `pause` alone does
 * not last: Node resumes the socket whenever it has parsed a request or emitted a chunk of a body.
 * A socket that was paused after `resume` but before its event ignores a second `pause`, and the
 * event makes Node read.
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
