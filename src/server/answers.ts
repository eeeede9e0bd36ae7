import { STATUS_CODES } from 'node:http';

/** A short answer for people and probes. */
export function text(status: number, body: string): Response {
  return new Response(`${body}\n`, { status, headers: { 'content-type': 'text/plain' } });
}

/** An answer that leads elsewhere. */
export function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}

/** An Error body for an address or a method that is not there; 405 allows GET and HEAD. */
export function problem(status: 404 | 405, message: string): Response {
  const code = (STATUS_CODES[status] ?? '').toLowerCase().replaceAll(' ', '_');
  return new Response(JSON.stringify({ code, message, status }), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 405 && { allow: 'GET, HEAD' }),
    },
  });
}
