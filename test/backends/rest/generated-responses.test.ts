import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pet as petRecord } from '../../../src/petstore/records.ts';
import { owning } from '../../support/dispose.ts';
import { startFaultServer } from '../../support/fault-server.ts';
import { fuzzed, fuzzTimeout } from '../../support/fuzzed.ts';
import { openGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { openTelemetry } from '../../support/log.ts';
import { openRest } from '../../support/rest-gateway.ts';
import { type Expected, expectedData, normalized } from '../expected-data.ts';
import {
  type GeneratedResponse,
  generatedResponse,
  hiddenText,
  type Operation,
} from './generate-response.ts';

const key = 'generated-secret-key';
const pet = `{ ${Object.keys(petRecord.fields).join(' ')} }`;
const queries: Readonly<Record<Operation, string>> = {
  pets: `{ r: pets ${pet} }`,
  orders: '{ r: orders }',
  addPet: `mutation { r: addPet(input: { name: "Rex", categoryId: 2 }) ${pet} }`,
  sendMessage: 'mutation { r: sendMessage(message: "hello") { id message status createdAt } }',
};

const codeOfStatus: Readonly<Record<number, string>> = {
  ...{ 400: 'BAD_USER_INPUT', 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN', 404: 'NOT_FOUND' },
  ...{ 409: 'CONFLICT', 422: 'BAD_USER_INPUT', 429: 'RATE_LIMITED' },
};
/** The codes that do not depend on the status, and those that do. */
const allCodes = new Set([
  ...['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_INVALID_RESPONSE'],
  ...Object.values(codeOfStatus),
]);

/** Starts a REST service, and a gateway with a long and one with a short deadline in front of it. */
async function startService() {
  let next: GeneratedResponse | undefined;
  const server = await startFaultServer(async (socket) => {
    if (next === undefined) return;
    const { pieces, ending } = next;
    for (const piece of pieces) {
      socket.write(piece);
      await setImmediate();
    }
    if (ending === 'ends') socket.end();
    if (ending === 'is reset') socket.write('', () => socket.resetAndDestroy());
  });
  const telemetry = openTelemetry();
  const limits = { breakAfterFailures: Number.POSITIVE_INFINITY };
  const open = (timeoutMs: number) =>
    openGateway({ petStore: openRest(server.url, { timeoutMs, limits }, telemetry) });
  const [patient, impatient] = [await open(20_000), await open(200)];
  return {
    async execute(response: GeneratedResponse) {
      next = response;
      const { gateway } = response.ending === 'hangs' ? impatient : patient;
      const headers = { authorization: `Bearer ${key}` };
      return postGraphQL(gateway, queries[response.operation], undefined, headers);
    },
    host: new URL(server.url).host,
    lines: [patient.lines, impatient.lines, telemetry.lines],
    ...owning(server, patient, impatient),
  };
}

/** Whether the data is that of the body, or of a part of it if the head is damaged. */
function matches(
  response: GeneratedResponse,
  expected: Expected | undefined,
  data: string,
): boolean {
  if (expected?.data === data) return true;
  if (response.hasIntactHead) return false;
  const { operation, body } = response;
  for (let length = 0; length < body.length; length++) {
    if (expectedData(operation, body.subarray(0, length))?.data === data) return true;
  }
  return false;
}

it(
  'returns exactly the data of a REST response, or a typed error',
  async () => {
    await using service = await startService();
    const counts = { data: 0, errors: 0, damaged: 0 };
    await fc.assert(
      fc.asyncProperty(generatedResponse, async (response) => {
        const { operation, status, isIntact, hasIntactHead } = response;
        const expected = expectedData(operation, response.body);
        const { text, data, errors = [] } = await service.execute(response);
        if (!isIntact) counts.damaged++;
        const received = errors.map(({ extensions }) => String(extensions['code']));
        for (const code of received) expect([...allCodes]).toContain(code);
        const isError = hasIntactHead && status > 299;
        if (isError) {
          expect(received).toEqual([codeOfStatus[status] ?? 'UPSTREAM_ERROR']);
          expect(errors[0]?.extensions['status']).toBe(status);
        }
        if (data?.['r'] == null && received.length > 0) {
          counts.errors++;
          if (isIntact && status < 300) expect(expected).toBeUndefined();
        } else {
          counts.data++;
          const value = normalized(text, (json) => (json as { data: { r: unknown } }).data.r);
          expect(matches(response, expected, value)).toBe(true);
          expect(received).toHaveLength(expected?.invalidFields ?? 0);
        }
        const hidden = status >= 400 && status < 500 ? [] : [hiddenText];
        for (const secret of [key, service.host, ...(hasIntactHead ? hidden : [])]) {
          expect(text).not.toContain(secret);
        }
        for (const lines of service.lines) {
          for (const line of lines) expect(line).not.toContain(key);
          lines.length = 0;
        }
      }),
      fuzzed(150),
    );
    // Fails if most responses are of one kind.
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
  },
  fuzzTimeout,
);
