import { type Argument, type Field, int64 } from '../contract/fields.ts';
import type { List, Operation } from '../contract/operation.ts';
import type { RecordType } from '../contract/record.ts';
import { describe, expectError, expectStatus } from './expect.ts';
import type { Send, ServiceRequest, ServiceResponse } from './http-client.ts';

/** A record of a service by the names of its fields. */
export type AnyRecord = Readonly<Record<string, unknown>>;

/** The service under check. */
export interface CheckedService {
  readonly send: Send;
  /** The records of a type that it lists; none if there is no list, or it could not be read. */
  known(type: RecordType): readonly AnyRecord[];
}

/** The verdict of a check, and what the service did. */
export interface Finding {
  /** `info` if the contract does not specify the behaviour, `skip` if nothing could be checked. */
  readonly verdict: 'pass' | 'fail' | 'info' | 'skip';
  readonly seen: string;
}

/** A rule of the contract, or something that it does not specify, and how to check it. */
export interface Check {
  readonly id: string;
  readonly operation: Operation;
  readonly rule: string;
  /** Resolves to what was right, or another finding. @throws PetStoreError, which fails it. */
  readonly run: (service: CheckedService) => Promise<string | Finding>;
}

/** An operation to check, with the others of its contract. */
export interface Subject {
  readonly operation: Operation;
  /** What the ids of its checks begin with. */
  readonly name: string;
  readonly others: readonly Operation[];
}

/** A request of a check, which may need records that are known. */
export type RequestOf = (service: CheckedService) => ServiceRequest;

/** The contract does not specify this behaviour; it is only reported. */
export function info(seen: string): Finding {
  return { verdict: 'info', seen };
}

/** The check did not run, or could not decide. */
export function skip(reason: string): Finding {
  return { verdict: 'skip', seen: reason };
}

/** Creates a check of an operation; its rule follows the method and path. */
export function check({ operation }: Subject, id: string, rule: string, run: Check['run']): Check {
  return { id, operation, rule: `${operation.method} ${operation.path}${rule}`, run };
}

/** Checks a refusal, as far as the contract publishes it. */
export function refusing(
  subject: Subject,
  id: string,
  description: string,
  status: 400 | 401,
  request: RequestOf,
): Check {
  const { operation } = subject;
  const { refusal } = operation;
  const hasBody = refusal !== 'status';
  const rule = ` ${description}: ${status}${hasBody ? ' with an Error body' : ''}`;
  return check(subject, `${subject.name}-${id}`, rule, async (service) => {
    const response = await service.send(operation, request(service));
    const isOther = response.status >= 300 && response.status !== status;
    if (refusal === 'unpublished' && isOther) return info(describe(response));
    if (hasBody) return expectError(response, status);
    expectStatus(response, status);
    return describe(response);
  });
}

/** Checks that a service refuses a request without a key, and with a wrong one. */
export function withoutKey(subject: Subject, request: RequestOf): Check[] {
  const keys = { 'no-key': null, 'wrong-key': 'not-a-key-of-this-service' };
  return Object.entries(keys).map(([id, apiKey]) => {
    const description = apiKey === null ? 'without a key' : 'with a wrong key';
    const keyed: RequestOf = (service) => ({ ...request(service), apiKey });
    return refusing(subject, id, description, 401, keyed);
  });
}

/** Reports what the contract does not specify. */
export function unspecified(subject: Subject, id: string, search = ''): Check {
  return check(subject, id, search, async ({ send }) =>
    info(describe(await send(subject.operation, { search, ...parametersOf(subject.operation) }))),
  );
}

/** Checks that ids which no record has are 404. `found` describes another response, or throws. */
export function missing(
  { operation, name, ...others }: Subject,
  found: (response: ServiceResponse, id: string) => string,
  request: (service: CheckedService, id: string) => ServiceRequest = () => ({}),
): Check[] {
  return unknownIdsOf(operation).map(([id, description, value]) => {
    const rule = ` with ${description}: 404 with an Error body`;
    return check({ operation, name, ...others }, `${name}-${id}`, rule, async (service) => {
      const sent = { ...request(service, String(value)), ...parametersOf(operation, value) };
      const response = await service.send(operation, sent);
      return response.ok ? skip(found(response, String(value))) : expectError(response, 404);
    });
  });
}

/** Returns what the last parameter of a path can be without naming a record. */
export const unknownIdsOf = ({ parameters = {} }: Operation) =>
  Object.values<Argument>(parameters).at(-1)?.unknown ?? [];

/** Returns the parameters of a path: examples, and for the last one a value. */
export function parametersOf({ parameters = {} }: Operation, last?: unknown) {
  const examples = Object.entries<Argument>(parameters);
  const values = examples.map(([name, { example }], index) => {
    const isLast = last !== undefined && index === examples.length - 1;
    return [name, String(isLast ? last : example)] as const;
  });
  return { parameters: Object.fromEntries(values) };
}

/** Returns the record with the greatest id, which loses digits first if the service rounds. */
export function greatest(records: readonly AnyRecord[], { name, kind }: Field) {
  if (kind !== int64) return records.at(-1);
  const idOf = (record: AnyRecord) => BigInt(record[name] as string);
  return records.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1))[0];
}

/** Returns the list that a response has, if it has one. */
export function listOf({ response }: Operation): List | undefined {
  return typeof response === 'object' && 'listOf' in response ? response : undefined;
}

/** Returns the record that a response has, if it has one. */
export function recordOf({ response }: Operation): RecordType | undefined {
  return typeof response === 'object' && 'fields' in response ? response : undefined;
}
