/**
 * Whether a Host header is a host and maybe a port (RFC 9110, section 7.2), so that a URL can be built
 * of it that has no path or query but the request's.
 */
export function isHost(host: string | undefined): boolean {
  if (host === undefined || host === lastHost) return host !== undefined;
  if (!isUrlHost(host)) return false;
  lastHost = host;
  return true;
}

/** Nearly all requests name the same host as the one before. */
let lastHost: string | undefined;

function isUrlHost(host: string): boolean {
  return /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`);
}
