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

  it('has one rule for the codes of rejected certificates', () => {
    const outcomeOf = (code: string) => {
      const cause = new ConnectionFailed(Object.assign(new Error(code), { code }));
      return outcomeOfFailure(cause, false, 0, false).why;
    };
    // Each is the start or the end of several in Node's documentation.
    const rejected = 'CERT_HAS_EXPIRED UNABLE_TO_GET_CRL SELF_SIGNED_CERT_IN_CHAIN INVALID_CA';
    for (const code of rejected.split(' ')) expect(outcomeOf(code)).toBe('certificate');
    expect(outcomeOf('ECONNREFUSED')).toBe('noConnection');
  });
});
