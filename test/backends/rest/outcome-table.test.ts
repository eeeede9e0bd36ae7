import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { ConnectionFailed } from '../../../src/backends/rest/connections.ts';
import {
  consequencesOf,
  type Failed,
  type Outcome,
  outcomeOfFailure,
  type Responded,
  toError,
} from '../../../src/backends/rest/outcome.ts';
import { readError } from '../../../src/backends/rest/response.ts';
import { typedError } from '../../../src/graphql/errors.ts';
import { internalError } from '../../../src/http/error.ts';
import type { Effect } from '../../../src/limits/circuit.ts';

const responded = (status: number): Responded => ({ status, headers: {}, body: Buffer.alloc(0) });

const failed = (...reasons: Failed['why'][]) => reasons.map((why): Outcome => ({ why }));

/** The rows of a failure, so that a reason without one does not compile. */
const failures: Readonly<Record<Exclude<Failed['why'], 'invalid' | 'notHttp'>, string>> = {
  noConnection: 'not sent: no connection',
  connectTimeout: 'not sent: connecting took too long',
  certificate: 'not sent: a certificate was rejected',
  connectionClosed: 'not sent: the connection closed before',
  circuit: 'not sent: a circuit is open, or too many calls are queued',
  keyCircuit: 'not sent: a circuit is open, or too many calls are queued',
  queueFull: 'not sent: a circuit is open, or too many calls are queued',
  keyQueueFull: 'not sent: a circuit is open, or too many calls are queued',
  deadline: 'not sent: the deadline passed in the queue',
  stale: 'lost: the service closed a kept connection',
  reset: 'lost: closed before the headers',
  cutOff: 'lost: closed after the headers',
  timeout: 'lost: timed out',
  clientLeft: 'cancelled: the client disconnected',
  noMemory: 'cancelled: too many bytes of responses are held',
  unread: 'cancelled: the deadline passed before a complete response was read',
};

const notHttp: Outcome = { why: 'notHttp', problem: 'Expected HTTP.' };
const invalid: Outcome = { why: 'invalid', status: 201, problem: 'body.' };
const unread: Outcome = { why: 'unread', status: 201 };
const broken = 'not HTTP, or a body that breaks the contract';
const outcomes: readonly (readonly [row: string, Outcome])[] = [
  ...[200, 302, 404].map((status) => ['a status below 500', responded(status)] as const),
  ...[502, 503, 504].map((status) => ['502, 503, 504', responded(status)] as const),
  ...[500, 501, 505].map((status) => ['any other 5xx', responded(status)] as const),
  [broken, notHttp],
  [broken, invalid],
  ...Object.entries(failures).map(([why, row]) => [row, { why: why as Failed['why'] }] as const),
];

const repeats = {
  none: 'no',
  'reads later': 'reads later',
  'reads at once': 'reads at once',
  'all at once': 'at once',
} as const;

/** Returns which circuits count an outcome as this. */
function circuitsOf(outcome: Outcome, effect: Effect): string {
  const { key, service } = consequencesOf(outcome);
  if (key === effect) return service === effect ? 'both' : 'the key';
  return service === effect ? 'the service' : '–';
}

/** What a client gets for a write. */
function errorOf(outcome: Outcome): string {
  const cause = outcome.why === undefined ? readError(outcome, '') : toError(outcome);
  const error = new GraphQLError(cause.message, { originalError: cause, path: ['addPet'] });
  const { extensions } = typedError(error, {
    scope: { requestId: 'r' },
    report: { isMutation: true },
    reportError: internalError,
  });
  return `${extensions.code} ${extensions['outcome']}`;
}

describe('the outcomes of a REST call', () => {
  it('are in docs/reliability.md, with what follows from each', async () => {
    const text = await readFile(join(import.meta.dirname, '../../../docs/reliability.md'), 'utf8');
    const [, section = ''] = text.split('\n## Outcomes of a REST call\n');
    const [table = ''] = /^\|(?:.*\n\|)*.*/m.exec(section) ?? [];
    const rows = table.split('\n').slice(2);
    const expected = outcomes.map(([row, outcome]) => {
      const { repeats: again, label } = consequencesOf(outcome);
      const status = outcome.why === undefined ? 'the status' : `\`${label}\``;
      return `| ${[row, circuitsOf(outcome, 'failure'), repeats[again], status].join(' | ')} |`;
    });
    expect(rows).toEqual([...new Set(expected)]);
  });

  it('close circuits by their status, and are logged if the service failed', () => {
    const statuses = [200, 302, 404].map(responded);
    for (const outcome of [...statuses, invalid, unread]) {
      expect(circuitsOf(outcome, 'success')).toBe('both');
    }
    expect(circuitsOf(responded(500), 'success')).toBe('the service');
    expect(circuitsOf(notHttp, 'success')).toBe('–');
    const silent = outcomes.filter(([, outcome]) => !consequencesOf(outcome).isLogged);
    const unlogged = [responded(200), responded(404), { why: 'clientLeft' }];
    expect(silent.map(([, outcome]) => outcome)).toEqual(unlogged);
  });

  it.each<readonly [error: string, readonly Outcome[]]>([
    ['UPSTREAM_ERROR UNKNOWN', [responded(302), responded(500), responded(503)]],
    ['BAD_USER_INPUT NOT_DONE', [responded(400), responded(422)]],
    ['UNAUTHENTICATED NOT_DONE', [responded(401)]],
    ['FORBIDDEN NOT_DONE', [responded(403)]],
    ['NOT_FOUND NOT_DONE', [responded(404)]],
    ['CONFLICT NOT_DONE', [responded(409)]],
    ['RATE_LIMITED NOT_DONE', [responded(429)]],
    ['UPSTREAM_ERROR NOT_DONE', [responded(402), responded(410), responded(499)]],
    ['UPSTREAM_INVALID_RESPONSE DONE', [invalid]],
    ['UPSTREAM_INVALID_RESPONSE UNKNOWN', [notHttp]],
    ['UPSTREAM_UNAVAILABLE NOT_DONE', failed('noConnection', 'certificate', 'connectionClosed')],
    ['UPSTREAM_UNAVAILABLE NOT_DONE', failed('circuit', 'keyCircuit')],
    ['UPSTREAM_UNAVAILABLE NOT_DONE', failed('queueFull', 'keyQueueFull')],
    ['UPSTREAM_UNAVAILABLE UNKNOWN', failed('stale', 'reset', 'cutOff', 'noMemory')],
    ['UPSTREAM_TIMEOUT NOT_DONE', failed('connectTimeout', 'deadline')],
    ['UPSTREAM_TIMEOUT UNKNOWN', failed('timeout')],
    ['UPSTREAM_TIMEOUT DONE', [unread]],
    ['CANCELLED NOT_DONE', failed('clientLeft')],
  ])('give a write the code and the outcome %s', (error, causes) => {
    for (const outcome of causes) expect(errorOf(outcome)).toBe(error);
  });

  it('include the reuse of a key only for a write that has one', () => {
    const body = Buffer.from('{"code":"idempotency_key_reused","message":"Used.","status":422}');
    const response = { ...responded(422), body };
    expect(readError(response, '', true).code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(readError(response, '', false).code).toBe('BAD_USER_INPUT');
  });

  it('depend on whether the system reset a connection that was established', () => {
    const outcomeOf = (code: string, wasSent: boolean) =>
      outcomeOfFailure(Object.assign(new Error(code), { code }), wasSent, 0, true).why;
    for (const code of ['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']) {
      expect([code, outcomeOf(code, true)]).toEqual([code, 'stale']);
      expect([code, outcomeOf(code, false)]).toEqual([code, 'connectionClosed']);
    }
    expect(outcomeOf('ENOTFOUND', true)).toBe('reset');
    expect(outcomeOf('ENOTFOUND', false)).toBe('noConnection');
  });

  it('have one rule for the codes of rejected certificates', () => {
    const outcomeOf = (code: string) => {
      const cause = new ConnectionFailed(Object.assign(new Error(code), { code }));
      return outcomeOfFailure(cause, false, 0, false).why;
    };
    // Each is the start or the end of several in Node's documentation.
    const rejected =
      'CERT_HAS_EXPIRED CRL_HAS_EXPIRED ERROR_IN_CERT_NOT_BEFORE_FIELD UNABLE_TO_GET_CRL SELF_SIGNED_CERT_IN_CHAIN DEPTH_ZERO_SELF_SIGNED_CERT INVALID_CA INVALID_PURPOSE PATH_LENGTH_EXCEEDED HOSTNAME_MISMATCH ERR_TLS_CERT_ALTNAME_INVALID UNSPECIFIED';
    for (const code of rejected.split(' ')) expect(outcomeOf(code)).toBe('certificate');
    expect(outcomeOf('ECONNREFUSED')).toBe('noConnection');
    // Those of a service that refuses the certificate of the client, in OpenSSL 1.1 and 3.
    const alerts =
      'TLSV13_ALERT_CERTIFICATE_REQUIRED TLSV1_ALERT_UNKNOWN_CA TLSV1_ALERT_ACCESS_DENIED SSLV3_ALERT_BAD_CERTIFICATE SSL/TLS_ALERT_CERTIFICATE_EXPIRED SSL/TLS_ALERT_UNSUPPORTED_CERTIFICATE';
    for (const alert of alerts.split(' '))
      expect(outcomeOf(`ERR_SSL_${alert}`)).toBe('certificate');
    expect(outcomeOf('ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE')).toBe('noConnection');
  });
});
