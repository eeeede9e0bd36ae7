import { HttpError } from '../../http/error.ts';

/** Nearly all requests name the same host as the one before. */
let lastHost: string | undefined;

/**
 * Checks that a Host header, where there is one, is a host and maybe a port (RFC 9110, section 7.2).
 * @throws HttpError with status 400.
 */
export function checkHost(host: string | undefined): void {
  if (host === undefined || host === lastHost) return;
  if (!isUrlHost(host)) {
    throw new HttpError(
      400,
      'BAD_REQUEST',
      'Host: expected one name or address, with its port, received something else.',
    );
  }
  lastHost = host;
}

function isUrlHost(host: string): boolean {
  return /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`);
}
