import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** Connects to an address such as `http://127.0.0.1:4000` or `http://unix:/run/x.sock:`. */
export function connectTo(url: string): Socket {
  const path = /^http:\/\/unix:(.*):$/.exec(url)?.[1];
  const { hostname, port } = new URL(path === undefined ? url : 'http://unused');
  const socket = path === undefined ? connect(Number(port), hostname) : connect(path);
  return socket.on('error', () => {});
}

/** Sends raw bytes. @returns everything received until the connection is closed. */
export function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connectTo(url);
  socket.write(bytes);
  return text(socket);
}

/** Encodes a GET. `headers` are whole lines. */
export function rawGet(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
}

/** Encodes a POST of JSON with the demo key. `headers` are whole lines. */
export function rawPost(body: string, headers = '', path = '/graphql'): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer demo-key\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A last request, after which the server closes the connection. */
export const lastProbe = rawGet('/livez', 'Connection: close\r\n');

/** Returns the status of each response. */
export function statusesOf(responses: string): number[] {
  return [...responses.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}
