import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openRestPetStore } from '../../src/backends/rest/pet-store.ts';
import { startFaultServer } from '../support/fault-server.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { openGateway } from '../support/gateway.ts';
import { ask } from '../support/graphql.ts';
import { openTelemetry } from '../support/log.ts';
import { type Expected, expectedData, normalized } from './expected-data.ts';
import {
  type GeneratedAnswer,
  generatedAnswer,
  hiddenText,
  type Operation,
} from './generate-answer.ts';

const key = 'generated-secret-key';
const pet = '{ id name categoryId status }';
const queries: Readonly<Record<Operation, string>> = {
  pets: `{ r: pets ${pet} }`,
  orders: '{ r: orders }',
  addPet: `mutation { r: addPet(input: { name: "Rex", categoryId: 2 }) ${pet} }`,
  sendMessage: 'mutation { r: sendMessage(message: "hello") { id message status createdAt } }',
};

/** The codes of an answer that says nothing of itself, and of each status that says something. */
const codes = [
  'UPSTREAM_ERROR',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_INVALID_RESPONSE',
];
const codeOfStatus: Readonly<Record<number, string>> = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'BAD_USER_INPUT',
  429: 'RATE_LIMITED',
};
const allCodes = new Set([...codes, ...Object.values(codeOfStatus)]);

/** A REST service that sends what it is given next, behind gateways that are patient and that are not. */
async function startService() {
  let next: GeneratedAnswer | undefined;
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
  const open = (timeoutMs: number) =>
    openGateway({
      petStore: openRestPetStore(
        {
          baseUrl: new URL(`${server.url}/v1`),
          messagesBaseUrl: new URL(`${server.url}/quickstart`),
          timeoutMs,
          limits: { breakAfterFailures: Number.POSITIVE_INFINITY },
        },
        telemetry,
      ),
    });
  const [patient, hasty] = [await open(20_000), await open(200)];
  return {
    async answerWith(answer: GeneratedAnswer) {
      next = answer;
      const { gateway } = answer.ending === 'hangs' ? hasty : patient;
      const headers = { authorization: `Bearer ${key}` };
      return ask(gateway, queries[answer.operation], undefined, headers);
    },
    host: new URL(server.url).host,
    lines: [patient.lines, hasty.lines, telemetry.lines],
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await patient[Symbol.asyncDispose]();
      await hasty[Symbol.asyncDispose]();
    },
  };
}

/** What the body stands for. Where the head is damaged, a part of the body may be taken for it. */
function matches(answer: GeneratedAnswer, expected: Expected | undefined, data: string): boolean {
  if (expected?.data === data) return true;
  if (answer.hasIntactHead) return false;
  const { operation, body } = answer;
  for (let length = 0; length < body.length; length++) {
    if (expectedData(operation, body.subarray(0, length))?.data === data) return true;
  }
  return false;
}

it(
  'answers what a REST service sends with exactly that or with a typed error',
  async () => {
    await using service = await startService();
    const seen = { data: 0, errors: 0, damaged: 0 };
    await fc.assert(
      fc.asyncProperty(generatedAnswer, async (answer) => {
        const { operation, status, isIntact, hasIntactHead } = answer;
        const expected = expectedData(operation, answer.body);
        const start = performance.now();
        const { text, data, errors = [] } = await service.answerWith(answer);
        expect(performance.now() - start).toBeLessThan(10_000);
        if (!isIntact) seen.damaged++;
        const received = errors.map(({ extensions }) => String(extensions['code']));
        for (const code of received) expect([...allCodes]).toContain(code);
        const isError = hasIntactHead && status > 299;
        if (isError) {
          expect(received).toEqual([codeOfStatus[status] ?? 'UPSTREAM_ERROR']);
          expect(errors[0]?.extensions['status']).toBe(status);
        }
        if (data?.['r'] == null && received.length > 0) {
          seen.errors++;
          if (isIntact && status < 300) expect(expected).toBeUndefined();
        } else {
          seen.data++;
          const value = normalized(text, (json) => (json as { data: { r: unknown } }).data.r);
          expect(matches(answer, expected, value)).toBe(true);
          expect(received).toHaveLength(expected?.oddStatuses ?? 0);
        }
        const shown = status >= 400 && status < 500 ? [] : [hiddenText];
        for (const secret of [key, service.host, ...(hasIntactHead ? shown : [])]) {
          expect(text).not.toContain(secret);
        }
        for (const lines of service.lines) {
          for (const line of lines) expect(line).not.toContain(key);
          lines.length = 0;
        }
      }),
      fuzzed(400),
    );
    // Neither the generator nor the gateway may come to leave most of it out.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(60);
  },
  fuzzTimeout,
);
