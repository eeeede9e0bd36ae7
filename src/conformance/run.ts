import { readBearer, redactKey } from '../contract/bearer.ts';
import { BackendUnavailableError, InvalidResponseError, PetStoreError } from '../contract/error.ts';
import { type Contract, isSafe, type Operation } from '../contract/operation.ts';
import { createRequestWriter } from '../contract/request.ts';
import {
  type AnyRecord,
  type Check,
  type CheckedService,
  collectionOf,
  type Finding,
  listOf,
  type Subject,
  skip,
} from './check.ts';
import { expectList } from './expect.ts';
import { createSend, type Send } from './http-client.ts';
import { checkDoneOnce } from './idempotency.ts';
import { readingChecks, requestOfAll } from './reading.ts';
import { writingChecks } from './writing.ts';

/** Options of `runChecks`. */
export interface RunOptions {
  /** The base URL of each service. Those of a service without one are not checked. */
  readonly baseUrls: Readonly<Record<string, URL | undefined>>;
  readonly apiKey: string;
  readonly write: boolean;
  readonly idempotency?: boolean;
  /** Time limit for one response, in milliseconds. */
  readonly timeoutMs: number;
}

/** A check and its finding. */
export type CheckResult = Finding & Pick<Check, 'id' | 'rule'>;

/** Returns the checks of a contract; `doneOnce` are those of writes with an `Idempotency-Key`. */
export function checksOf({ operations, probe }: Contract) {
  const all = Object.values(operations);
  const subjects = Object.entries(operations).map(([id, operation]): Subject => {
    const { checks: name = id } = operation;
    const prefix = id === probe.id ? '' : `${name}-`;
    return { operation, name, prefix, collection: collectionOf(operation, all) };
  });
  const [reading, writing] = [true, false].map((safe) =>
    subjects.filter(({ operation }) => isSafe(operation.method) === safe),
  );
  return {
    reading: reading?.flatMap(readingChecks) ?? [],
    writing: writing?.flatMap(writingChecks) ?? [],
    doneOnce: writing?.flatMap(checkDoneOnce) ?? [],
  };
}

/** Runs the checks of a contract. @throws if there is no response, or the API key is malformed or refused. */
export async function runChecks(
  contract: Contract,
  { apiKey, baseUrls, write, idempotency, timeoutMs }: RunOptions,
): Promise<CheckResult[]> {
  readBearer(`Bearer ${apiKey}`);
  const send = createSend(baseUrls, apiKey, timeoutMs);
  const service = await openService(contract, baseUrls, send);
  const { reading, writing, doneOnce } = checksOf(contract);
  const results: CheckResult[] = [];
  for (const check of [...reading, ...writing, ...(idempotency ? doneOnce : [])]) {
    const { id, rule, operation } = check;
    if (baseUrls[operation.service] === undefined) continue;
    const isSkipped = !isSafe(operation.method) && !write;
    const found = isSkipped ? skip('requires --write') : await runCheck(check, service);
    results.push({ id, rule, verdict: found.verdict, seen: redactKey(found.seen, apiKey) });
  }
  return results;
}

/** Makes the call of the probe, which shows whether there is a service, and reads the lists without parameters. */
async function openService(
  { operations, services, probe }: Contract,
  baseUrls: RunOptions['baseUrls'],
  send: Send,
): Promise<CheckedService> {
  const first = operations[probe.id] as Operation;
  const { path, service } = first;
  const version = services[service]?.version ?? '';
  const { href = '', pathname = '' } = baseUrls[service] ?? {};
  const records = new Map<Operation, readonly AnyRecord[]>();
  const isRead = (one: Operation) => listOf(one) && !one.parameters && baseUrls[one.service];
  for (const operation of new Set([first, ...Object.values(operations).filter(isRead)])) {
    const list = operation.parameters ? undefined : listOf(operation);
    const request = list ? requestOfAll(operation) : createRequestWriter(first)(probe.value);
    try {
      const response = await send(operation, request);
      if (operation === first && response.status === 401) {
        throw new Error(`${href} refused the API key (401). Check the key and the base URL.`);
      }
      const isComplete = pathname.replace(/\/$/, '').endsWith(version);
      if (operation === first && response.status === 404 && !isComplete) {
        throw new Error(`${href} has no ${path} (404). Does the base URL lack ${version}?`);
      }
      if (list) records.set(operation, expectList(list, response, list.maximum));
    } catch (error) {
      // The checks of the list report what is wrong with it.
      if (error instanceof InvalidResponseError) continue;
      if (!(error instanceof BackendUnavailableError)) throw error;
      if (operation === first) throw new Error(`${href} could not be reached: ${error.message}.`);
    }
  }
  return { send, known: (list) => (list && records.get(list)) ?? [] };
}

async function runCheck(check: Check, service: CheckedService): Promise<Finding> {
  try {
    const found = await check.run(service);
    return typeof found === 'string' ? { verdict: 'pass', seen: found } : found;
  } catch (error) {
    if (error instanceof PetStoreError) return { verdict: 'fail', seen: error.message };
    throw error;
  }
}
