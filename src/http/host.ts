import { badRequest } from './error.ts';
import type { RequestHeaders } from './http-message.ts';

/**
 * Checks that a Host header is a host with an optional port, or empty as for a Unix domain socket
 * (RFC 9110, section 7.2), and, with `onlyLoopback`, a loopback host, against DNS rebinding.
 * Proxies may serve other machines; a server that it is mounted in (Next.js) names its client.
 * @throws HttpError with status 400
 */
export function checkHost(headers: RequestHeaders, onlyLoopback: boolean, mounted: boolean): void {
  const { host, forwarded = headers['x-forwarded-for'] } = headers;
  if (onlyLoopback && forwarded !== undefined && !(mounted && loopback.test(forwarded))) {
    throw badRequest('X-Forwarded-For, Forwarded: expected neither because this is a demo.');
  }
  if (!host) return;
  if (!wellFormed.test(host) || !URL.canParse(`http://${host}`)) {
    throw badRequest(
      'Host: expected one host name or address with an optional port, received another value.',
    );
  }
  if (onlyLoopback && !loopback.test(host)) {
    throw badRequest(
      'Host: expected localhost or a loopback address because this is a demo, received another host.',
    );
  }
}

const wellFormed = /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d*)?$/i;

const loopback =
  /^(?:(?:[\w-]+\.)*localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|\[::1\]|::1)(?::\d*)?$/i;
