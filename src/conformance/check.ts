import type { Argument } from '../contract/fields.ts';
import type { List, Operation } from '../contract/operation.ts';
import type { RecordType } from '../contract/record.ts';
import { createRequestWriter, createValue } from '../contract/request.ts';
import { describe, expectError, expectStatus } from './expect.ts';
import type { Send, ServiceRequest } from './http-client.ts';

/** A record of a service by the names of its fields. */
export type AnyRecord = Readonly<Record<string, unknown>>;

/** The service under check. */
export interface CheckedService {
  readonly send: Send;
  /** The records of a list without parameters; none if it could not be read. */
  known(list: Operation | undefined): readonly AnyRecord[];
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

/** What is below a path without parameters, such as `/books`: the records of one type, each at `/books/{isbn}`. */
export interface Collection {
  readonly type: RecordType;
  readonly list: Operation | undefined;
  /** Adds a record, and responds with it. */
  readonly post: Operation | undefined;
  readonly get: Operation | undefined;
}

/** An operation to check. */
export interface Subject {
  readonly operation: Operation;
  /** What the ids of its checks begin with. */
  readonly name: string;
  /** The same for those of its query parameters. */
  readonly prefix: string;
  /** The collection of its path, or of the path without its parameter at the end. */
  readonly collection: Collection | undefined;
}

/** A request of a check, which may need records. */
export type RequestOf = (service: CheckedService) => ServiceRequest | Promise<ServiceRequest>;

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
    const response = await service.send(operation, await request(service));
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
    const keyed: RequestOf = async (service) => ({ ...(await request(service)), apiKey });
    return refusing(subject, id, description, 401, keyed);
  });
}

/** Reports what the contract does not specify. */
export function unspecified(subject: Subject, id: string, search = ''): Check {
  const { operation } = subject;
  return check(subject, id, search, async ({ send }) => {
    const { path } = requestOf(operation);
    return info(describe(await send(operation, { path: path + search })));
  });
}

/** Returns the request for these parts of a call; other parameters of its path are examples. */
export function requestOf(operation: Operation, parts: AnyRecord = {}): ServiceRequest {
  const parameters = Object.entries<Argument>(operation.parameters ?? {});
  const examples = parameters.map(([name, { example }]) => [name, example] as const);
  const value = createValue(operation)({ ...Object.fromEntries(examples), ...parts });
  const { path, json } = createRequestWriter(operation)(value);
  return json === undefined ? { path } : { path, body: JSON.stringify(json) };
}

/** Returns the parts of a call for the record with an id. */
export function partsOf({ parameters = {} }: Operation, id: unknown): AnyRecord {
  const last = Object.keys(parameters).at(-1) ?? '';
  return { [last]: id };
}

/** Returns the list that a response has, if it has one. */
export function listOf({ response }: Operation): List | undefined {
  return typeof response === 'object' && 'listOf' in response ? response : undefined;
}

/** Returns the collection of an operation, if its path is one, or that of a record in one. */
export function collectionOf(operation: Operation, all: readonly Operation[]) {
  const path = withoutLast(operation.path);
  if (path.includes('{')) return undefined;
  const ofService = all.filter(({ service }) => service === operation.service);
  const list = ofService.find((one) => one.path === path && listOf(one));
  const post = ofService.find(({ method, path: own, body, response }) => {
    return method === 'POST' && own === path && body === response && body && 'fields' in body;
  });
  const type = (list && listOf(list)?.listOf) ?? (post?.response as RecordType | undefined);
  if (type === undefined) return undefined;
  const get = ofService.find(({ method, path: own, response }) => {
    return method === 'GET' && response === type && own !== path && withoutLast(own) === path;
  });
  return { type, list, post, get };
}

const withoutLast = (path: string) => path.replace(/\/\{\w+\}$/, '');
