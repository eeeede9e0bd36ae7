import { HttpError } from '../../http/error.ts';

/** Nearly all requests name the same host as the one before. */
let lastHost: string | undefined;

/**
 * Checks that a Host header, where there is one, is a host and maybe a port (RFC 9110, section 7.2),
 * and if `onlyLoopback` this machine. A page of another site whose name was made to lead here sends its
 * own name (DNS rebinding). @throws HttpError with status 400.
 */
export function checkHost(host: string | undefined, onlyLoopback: boolean): void {
  if (host === undefined) return;
  if (host !== lastHost && !isUrlHost(host)) {
    throw badHost('one name or address, with its port, received something else');
  }
  lastHost = host;
  if (onlyLoopback && !loopback.test(host)) {
    throw badHost('localhost or a loopback address, because this is a demo, received another');
  }
}

const loopback = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

function isUrlHost(host: string): boolean {
  return /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`);
}

function badHost(expected: string): HttpError {
  return new HttpError(400, 'BAD_REQUEST', `Host: expected ${expected}.`);
}
