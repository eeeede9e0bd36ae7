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

const responded = (status: number): Responded => ({
  status,
  headers: {},
  body: Buffer.alloc(0),
});

/** The rows, so that a reason without one does not compile. */
const failures: Readonly<Record<Exclude<Failed['why'], 'invalid' | 'notHttp'>, string>> = {
  noConnection: 'not sent: no connection',
  connectTimeout: 'not sent: connecting took too long',
  certificate: 'not sent: the certificate was rejected',
  connectionClosed: 'not sent: the connection closed before',
  circuit: 'not sent: the circuit of the service is open',
  keyCircuit: 'not sent: the circuit of the key is open',
  queueFull: 'not sent: too many calls are waiting',
  keyQueueFull: 'not sent: too many calls of the key are waiting',
  deadline: 'not sent: the deadline passed in the queue',
  notConfigured: 'not sent: `MESSAGES_BASE_URL` is not set',
  stale: 'lost: the service closed a kept connection',
  reset: 'lost: closed before the headers',
  cutOff: 'lost: closed after the headers',
  timeout: 'lost: timed out',
  clientLeft: 'cancelled: the client disconnected',
  noMemory: 'cancelled: too many bytes of responses are held',
};

const outcomes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ['2xx', responded(200)],
  ['2xx, but the body breaks the contract', { why: 'invalid', status: 201, problem: 'body.' }],
  ['3xx', responded(302)],
  ['4xx', responded(404)],
  ['502, 503, 504', responded(503)],
  ['any other 5xx', responded(500)],
  ['not HTTP', { why: 'notHttp', problem: 'Expected HTTP.' }],
  ...Object.entries(failures).map(([why, row]) => [row, { why: why as Failed['why'] }] as const),
]);

const repeats = {
  none: 'no',
  'reads later': 'reads later',
  'reads at once': 'reads at once',
  'all at once': 'at once',
} as const;

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes, and the code of a wrong host name. */
const certificateCodes =
  `
  UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_CRL UNABLE_TO_DECRYPT_CERT_SIGNATURE
  UNABLE_TO_DECRYPT_CRL_SIGNATURE UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY CERT_SIGNATURE_FAILURE
  CRL_SIGNATURE_FAILURE CERT_NOT_YET_VALID CERT_HAS_EXPIRED CRL_NOT_YET_VALID CRL_HAS_EXPIRED
  ERROR_IN_CERT_NOT_BEFORE_FIELD ERROR_IN_CERT_NOT_AFTER_FIELD ERROR_IN_CRL_LAST_UPDATE_FIELD
  ERROR_IN_CRL_NEXT_UPDATE_FIELD DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE CERT_CHAIN_TOO_LONG CERT_REVOKED
  INVALID_CA PATH_LENGTH_EXCEEDED INVALID_PURPOSE CERT_UNTRUSTED CERT_REJECTED HOSTNAME_MISMATCH
  ERR_TLS_CERT_ALTNAME_INVALID`.match(/\S+/g) ?? [];

/** The last columns of a row: what the client gets. */
function errorOf(outcome: Outcome): string[] {
  if (outcome.why === undefined && outcome.status < 300) return ['–', '–'];
  const cause = outcome.why === undefined ? readError(outcome, '') : toError(outcome, true);
  const error = new GraphQLError(cause.message, { originalError: cause, path: ['addPet'] });
  const { extensions } = typedError(error, { requestId: 'r', isMutation: true }, () => {});
  return [`\`${extensions.code}\``, `\`${extensions['outcome']}\``];
}

describe('docs/reliability.md', () => {
  it('lists what follows from each outcome of a REST call', async () => {
    const text = await readFile(join(import.meta.dirname, '../../../docs/reliability.md'), 'utf8');
    const [, section = ''] = text.split('\n## Outcomes of a REST call\n');
    const [table = ''] = /^\|(?:.*\n\|)*.*/m.exec(section) ?? [];
    const rows = table.split('\n').slice(2);
    const cells = rows.map((row) => row.slice(2, -2).split(' | '));
    const expected = [...outcomes].map(([name, outcome]) => {
      const { key, service, repeats: again, isLogged, label } = consequencesOf(outcome);
      const status = outcome.why === undefined ? String(outcome.status) : label;
      const log = isLogged ? 'warn' : 'no';
      return [name, key, service, repeats[again], log, status, ...errorOf(outcome)];
    });
    expect(cells).toEqual(expected);
  });

  it('has one rule for the codes of rejected certificates in the documentation of Node', () => {
    const outcomeOf = (code: string) => {
      const cause = new ConnectionFailed(Object.assign(new Error(code), { code }));
      return outcomeOfFailure(cause, false, 0, false).why;
    };
    expect(certificateCodes.filter((code) => outcomeOf(code) !== 'certificate')).toEqual([]);
    expect(outcomeOf('ECONNREFUSED')).toBe('noConnection');
  });
});
