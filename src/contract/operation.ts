import type { Argument } from './fields.ts';
import type { JsonText } from './json.ts';
import type { Fields, NewRecordOf, RecordOf, RecordType } from './record.ts';

/** A parameter of a query string. None is required. */
export interface QueryParameter<T = unknown> {
  readonly kind: Argument<T>;
  /** Of a parameter that limits the list: the least and the greatest limit, and the one without it. */
  readonly limits?: Readonly<Record<'minimum' | 'maximum' | 'default', number>>;
  /** Whether the list then has only records with this value, in the field of its name. */
  readonly filters?: true;
}

/** An object with one member, which stands for its value. */
export interface Member<T = unknown> {
  readonly member: string;
  readonly kind: Argument<T>;
}

/** A list of at most so many records. */
export interface List<Of extends Fields = Fields> {
  readonly listOf: RecordType<Of>;
  readonly maximum: number;
}

/** An operation of a contract. Requests, routes, resolvers' calls and labels follow from it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base address of the service; a name in braces stands for a parameter. */
  readonly path: string;
  readonly service: string;
  /** The GraphQL field that makes the call, as a schema coordinate. */
  readonly field: string;
  /** The parameters of the path. */
  readonly parameters?: Readonly<Record<string, Argument>>;
  /** The parameters of the query string, in their order. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** The body of the request: a record without what the service assigns, or one value. */
  readonly body?: RecordType | Member;
  /** The body of a success. `json` has no published shape. */
  readonly response: RecordType | List | Member | 'json' | 'nothing';
  /** The HTTP status of a success, if the contract has it. */
  readonly status?: number;
  /** When a deprecated operation is removed, and the path of its successor. */
  readonly removal?: { readonly date: string; readonly successor: string };
  /** What the contract publishes of refusals, unless it has their status and an Error body. */
  readonly refusal?: 'status' | 'unpublished';
  /** What the ids of its checks begin with, if it is not the operation's id. */
  readonly checks?: string;
  /** Whether a 404 with an Error body proves that the service has accepted the key. */
  readonly acceptsKeyWith404?: true;
}

/** The operations of a contract by their ids, which are the methods of its backends. */
export type Operations = Readonly<Record<string, Operation>>;

/** A service of a contract, which has a base address of its own. */
export interface Upstream {
  /** Where `/v1` serves its operations, as it does with the built-in backend. */
  readonly mountedAt: string;
  /** The end of its base addresses. */
  readonly version: string;
  /** The variable with its base address, and what a call says without one. */
  readonly variable: string;
  readonly missing?: string;
}

/** What the gateway offers: a REST contract. */
export interface Contract {
  readonly operations: Operations;
  /** The first one has the paths that hosts add. */
  readonly services: Readonly<Record<string, Upstream>>;
  /** The read that shows whether a key is accepted. */
  readonly probe: { readonly id: string; readonly value: unknown };
}

/** Returns the HTTP status of a success, also if the contract does not have it. */
export const statusOf = ({ status, response }: Operation): number =>
  status ?? (response === 'nothing' ? 204 : 200);

/** Whether a method only reads (RFC 9110, section 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Whether sending a request twice has the effect of sending it once (RFC 9110, section 9.2.2). */
export const isIdempotent = (method: string): boolean =>
  isSafe(method) || method === 'PUT' || method === 'DELETE';

type Parsed<Kind> = Kind extends Argument<infer T> ? T : never;
type BodyOf<Body> =
  Body extends RecordType<infer Of> ? NewRecordOf<Of> : Body extends Member<infer T> ? T : never;
type PathOf<Path> = { readonly [Name in keyof Path]: Parsed<Path[Name]> };
type QueryOf<Query> = {
  readonly [Name in keyof Query]?:
    | (Query[Name] extends { readonly kind: infer Kind } ? Parsed<Kind> : never)
    | undefined;
};
type NamedOf<Of> = (Of extends { readonly parameters: infer Path } ? PathOf<Path> : object) &
  (Of extends { readonly query: infer Query } ? QueryOf<Query> : object) &
  (Of extends { readonly body: infer Body } ? { readonly body: BodyOf<Body> } : object);
/** The key of an object that has only one. */
type Only<Of> = { [Name in keyof Of]: keyof Of extends Name ? Name : never }[keyof Of];

/**
 * What a call of an operation receives: its body, the one parameter of its path, or nothing, if it has no
 * more; otherwise an object of its parameters by name, and its `body`.
 */
export type ValueOf<Of> = Of extends { readonly query: object }
  ? NamedOf<Of>
  : Of extends { readonly parameters: infer Path }
    ? Of extends { readonly body: unknown }
      ? NamedOf<Of>
      : [Only<Path>] extends [never]
        ? NamedOf<Of>
        : Parsed<Path[Only<Path>]>
    : Of extends { readonly body: infer Body }
      ? BodyOf<Body>
      : // biome-ignore lint/suspicious/noConfusingVoidType: nothing can be left out.
        void;

/** What a call of an operation resolves to. */
export type ResultOf<Of> = Of extends { readonly response: infer Response }
  ? Response extends RecordType<infer Fields>
    ? RecordOf<Fields>
    : Response extends List<infer Fields>
      ? Iterable<RecordOf<Fields>>
      : Response extends Member<infer T>
        ? T
        : Response extends 'json'
          ? JsonText
          : undefined
  : never;
