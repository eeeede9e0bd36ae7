import type { Socket } from 'node:net';
import { connectTo } from './raw-http.ts';

/** Opens connections that send a byte of `sent` every 400 ms, and opens each again that is closed. */
export function startDripping(url: string, count: number, sent: string): Disposable {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const socket = connectTo(url).resume();
    sockets.add(socket);
    socket.write(sent);
    const timer = setInterval(() => socket.write('x'), 400);
    socket.once('close', () => {
      clearInterval(timer);
      sockets.delete(socket);
      open();
    });
  };
  for (let index = 0; index < count; index++) open();
  return {
    [Symbol.dispose]() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

const head = 'POST /metrics HTTP/1.1\r\nHost: localhost\r\n';

/** What a slow client has sent before it drips, by a name. */
export const slowRequests: readonly (readonly [string, string])[] = [
  ['a header', `${head}X-Slow: `],
  ['a body', `${head}Content-Length: 1000\r\n\r\n`],
  [
    'a body after a request',
    `GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n${head}Content-Length: 1000\r\n\r\n`,
  ],
];
