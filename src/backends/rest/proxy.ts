import { isIPv6, type Socket } from 'node:net';
import { unescape as decode } from 'node:querystring';
import { type buildConnector, Client } from 'undici';

/** The proxies for services with `http:` and `https:` URLs, and the hosts to reach without one. */
export interface ProxyOptions {
  readonly httpProxy?: URL | undefined;
  readonly httpsProxy?: URL | undefined;
  /** Names, with their subdomains, and addresses, each with an optional port; or `*`. */
  readonly noProxy?: readonly string[] | undefined;
}

/** A proxy between the gateway and a service. */
export interface ServiceProxy {
  readonly url: URL;
  /** The credential of the proxy, if it has one. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the proxy for a service, as curl and undici choose it; undefined to reach it directly. */
export function proxyOf(service: URL, options: ProxyOptions): ServiceProxy | undefined {
  const url = service.protocol === 'https:' ? options.httpsProxy : options.httpProxy;
  if (!url || options.noProxy?.some((entry) => isMatch(entry, service))) return undefined;
  const credential = `${decode(url.username)}:${decode(url.password)}`;
  const basic = `Basic ${Buffer.from(credential).toString('base64')}`;
  return { url, headers: credential === ':' ? {} : { 'proxy-authorization': basic } };
}

/** Whether an entry of `NO_PROXY`, in any form of a host, includes a service. `*.a.example` is subdomains only. */
function isMatch(entry: string, { hostname, port, protocol }: URL): boolean {
  const text = isIPv6(entry) ? `[${entry}]` : entry;
  const [, wildcard, name, only] = /^(\*(?=\.))?\.?(.*?)(?::(\d+))?$/.exec(text) ?? [];
  if (only && only !== (port || (protocol === 'https:' ? '443' : '80'))) return false;
  const host = hostname.replace(/\.$/, '');
  const suffix = URL.parse(`http://${name}`)?.hostname.replace(/\.$/, '') || name;
  return name === '*' || (host === suffix && !wildcard) || host.endsWith(`.${suffix}`);
}

/**
 * Opens a tunnel to a host through a proxy (CONNECT: RFC 9110, section 9.3.6).
 * @throws if the proxy can't be reached, or refuses; the code of the error is its status then
 */
export async function openTunnel(
  { url, headers }: ServiceProxy,
  { host = '', port }: buildConnector.Options,
  timeoutMs: number,
): Promise<Socket> {
  const timeouts = { connectTimeout: timeoutMs, headersTimeout: timeoutMs };
  const client = new Client(url.origin, { ...timeouts, allowH2: false });
  const path = port ? host : `${host}:443`;
  const { statusCode, socket } = await client.connect({ path, headers: { ...headers, host } });
  if (statusCode >= 200 && statusCode <= 299) return socket as Socket;
  socket.destroy();
  throw Object.assign(new Error('The proxy refused the tunnel'), { code: String(statusCode) });
}
