import { availableParallelism } from 'node:os';

/** What a variable accepts: a description for messages, and how its text becomes a value. */
export interface ValueKind<T = unknown> {
  readonly accepts: string;
  /** Returns the value, or undefined for invalid text. */
  readonly parse: (text: string) => T | undefined;
  /** Whether another value takes effect on SIGHUP, without a restart. */
  readonly isReloaded?: true;
}

/** A switch. */
export const onOff = {
  accepts: 'on or off',
  parse: (text: string) => (text === 'on' ? true : text === 'off' ? false : undefined),
};

/** A switch that may be on for accepted API keys only. */
export const onOffOrKeys = {
  accepts: 'on, off or keys',
  parse: (text: string) => (text === 'keys' ? ('keys' as const) : onOff.parse(text)),
};

/** A TCP port; 0 is any free one. */
export const port = wholeNumber(0, 65_535);

/** A number of processes. */
export const processes = {
  accepts: 'a whole number from 1 to 64, or auto for one per core',
  parse: (text: string) =>
    text === 'auto' ? availableParallelism() : wholeNumber(1, 64).parse(text),
};

/** Parses a URL without control characters, which the parser would drop. */
const parseUrl = (text: string) => (/\p{Cc}/u.test(text) ? null : URL.parse(text));

/** Whether the client of a database can decode its URL, which has no control characters either. */
function isEncoded(text: string): boolean {
  try {
    return !/\p{Cc}/u.test(text) && decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** The base URL of a service. */
export const baseUrl = {
  accepts: 'an http or https URL without credentials, query or fragment',
  parse(text: string): URL | undefined {
    const url = parseUrl(text);
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
    return url.username || url.password || /[?#]/.test(text) ? undefined : url;
  },
};

const database = matching(
  /^(?:file:(?!~|\/\/)[^?\p{Cc}]+$|:memory:$|postgres(?:ql)?:\/\/(?!.*[?&](?:user|password|[^=&]*%[^=&]*)=).)/u,
  'file:PATH without ~, :memory: or postgres://USER:PASSWORD@HOST/NAME',
);

/** The URL of a database. That of a file becomes `file:PATH`, without `//localhost` (RFC 8089). */
export const databaseUrl = {
  ...database,
  parse(text: string): string | undefined {
    const url = database.parse(text.replace(/^file:\/\/(?:localhost)?(?=\/)/, 'file:'));
    return url?.startsWith('postgres') && !isEncoded(url) ? undefined : url;
  },
};

/** The URL of a Redis server. */
export const redisUrl = {
  accepts: 'redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss://… for TLS',
  parse(text: string): string | undefined {
    const url = isEncoded(text) ? URL.parse(text) : null;
    const isRedis = url?.hostname && /^rediss?:$/.test(url.protocol);
    return isRedis && /^\/?\d*$/.test(url.pathname) && !/[?#]/.test(text) ? text : undefined;
  },
};

/** The path of a PEM file. */
export const pemFile = reloaded(matching(/^/, 'the path of a PEM file'));

/** The URL of a proxy; `http:` unless it has a scheme, as for curl. */
export const proxyUrl = {
  accepts: 'an http or https URL such as http://USER:PASSWORD@HOST:3128',
  parse(text: string): URL | undefined {
    const url = parseUrl(text.includes('://') ? text : `http://${text}`);
    return url && /^https?:$/.test(url.protocol) ? url : undefined;
  },
};

const names = listOf(
  'names such as x-tenant, but none that the gateway, HTTP or a proxy sets, and not authorization, cookie or idempotency-key',
  (name) => /^[\w-]+$/.test(name) && !ownHeaders.test(name),
);

/** Names of headers, in lower case. */
export const headerNames = { ...names, parse: (text: string) => names.parse(text.toLowerCase()) };

/** Different items, separated by commas, each of which is valid. */
export function listOf(items: string, isValid: (item: string) => boolean) {
  return {
    accepts: `comma-separated ${items}`,
    parse(text: string): readonly string[] | undefined {
      const list = text.split(',').map((item) => item.trim());
      return list.every(isValid) ? [...new Set(list)] : undefined;
    },
  };
}

/** A kind whose values can change without a restart. */
export function reloaded<K extends ValueKind>(kind: K) {
  return { ...kind, isReloaded: true as const };
}

/** Text that matches the pattern. */
export function matching(pattern: RegExp, accepts: string) {
  return { accepts, parse: (text: string) => (pattern.test(text) ? text : undefined) };
}

/** One of these words. */
export function oneOf<const T extends string>(...accepted: readonly T[]) {
  return {
    accepts: accepted.join(', ').replace(/, ([^,]*)$/, ' or $1'),
    parse: (text: string): T | undefined => accepted.find((value) => value === text),
  };
}

/** A part of the whole. */
export const fraction = {
  accepts: 'a number from 0 to 1',
  parse: (text: string) => (/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(text) ? Number(text) : undefined),
};

/** A whole number, from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum: number) {
  return {
    accepts: `a whole number from ${minimum} to ${maximum}`,
    parse(text: string): number | undefined {
      const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

/** Whether a host is a Unix domain socket. */
export const isSocket = (host: string) => host.startsWith('unix:');

/** Whether only this machine can connect to a host. */
export function isLoopback(host: string): boolean {
  return isSocket(host) || /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(host);
}

/**
 * Headers that can't be forwarded: of the credential, of a connection (RFC 9110, section 7.6.1),
 * of proxies, which clients can forge, and those that the gateway sets or interprets.
 */
const ownHeaders =
  /^(?:authorization|cookie|set-cookie|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|expect|range|accept|accept-encoding|x-request-id|traceparent|tracestate|forwarded|via|x-real-ip|idempotency-key|(?:x-forwarded|proxy|content|if)-.*)$/;
