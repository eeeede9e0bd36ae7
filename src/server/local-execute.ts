import { type DocumentNode, print } from 'graphql';
import { parseJson } from '../contract/json.ts';
import type { TypedError } from '../graphql/result.ts';
import { HttpError } from '../http/error.ts';
import { graphqlErrorResult } from '../http/error-response.ts';
import { keyOf } from '../limits/key.ts';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Delivery, TypedPart } from './graphql/encoded-parts.ts';
import type { EncodedResult } from './graphql/encoded-result.ts';
import type { LocalCaller, LocalExecution, LocalPartialResult } from './local-caller.ts';
import type { RouterOptions } from './router.ts';

type PartialResult = LocalPartialResult<Record<string, unknown>>;

type Path = readonly (string | number)[];

type LocalExecuteOptions = Pick<RouterOptions, 'telemetry' | 'admission' | 'refuse' | 'graphql'>;

/** Creates local execution. Each document object is printed once. */
export function createLocalExecution(options: LocalExecuteOptions): LocalExecution {
  const { telemetry, admission, graphql } = options;
  const texts = new WeakMap<object, string>();

  function textOf(document: string | object): string {
    if (typeof document === 'string') return document;
    let text = texts.get(document);
    if (text === undefined) {
      text = print(document as DocumentNode);
      texts.set(document, text);
    }
    return text;
  }

  /** Yields all data received after each part; without a delivery, there is one part. */
  async function* run(
    document: string | object,
    variables: unknown,
    { signal = never, ...caller }: LocalCaller = {},
    delivery?: Delivery,
  ): AsyncGenerator<PartialResult, void> {
    const scope = new DisposableStack();
    const authorization = caller.authorization ?? undefined;
    const key = keyOf(authorization);
    const ids = {
      'x-request-id': caller.requestId ?? undefined,
      traceparent: caller.traceparent ?? undefined,
    };
    const head = { method: 'execute', path: '', headers: ids };
    const record = scope.use(new RequestRecord(telemetry, head));
    try {
      await admission.admit({ key, headers: { authorization } }, record, scope);
      requireExact('$', variables);
      const operation = { text: textOf(document), variables: { ...(variables as object) } };
      const explain = caller.explain === true;
      const headers = caller.headers ? Object.fromEntries(new Headers(caller.headers)) : {};
      const rest = { headers, isReadOnly: false, explain, record, scope, delivery: () => delivery };
      const result = await graphql.execute(operation, { authorization, key, signal, ...rest });
      record.status = result.isExecuted ? 200 : 400;
      yield* mergeParts(result.body);
    } catch (error) {
      const refusal = options.refuse(error, record.requestId);
      record.codes = [refusal.code];
      record.status = 400;
      yield { ...graphqlErrorResult(refusal, record.requestId), hasNext: false };
    } finally {
      scope.dispose();
    }
  }

  return {
    async execute(document, variables, caller) {
      const results = await Array.fromAsync(run(document, variables, caller));
      const { hasNext, ...result } = results[0] as LocalPartialResult<never>;
      return result;
    },
    executeIncrementally: (document, variables, caller) =>
      run(document, variables, caller, asJson) as AsyncGenerator<LocalPartialResult<never>, void>,
  };
}

/** @throws HttpError if a variable or a member of one is a number that JavaScript may have rounded. */
function requireExact(path: string, values: unknown): void {
  for (const [name, value] of Object.entries(values ?? {})) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const problem = `expected an integer beyond 2^53 as a string or a bigint, received the number ${value}, which may be rounded`;
      throw new HttpError(400, 'BAD_USER_INPUT', `${path}${name}: ${problem}.`);
    }
    if (path === '$') requireExact(`$${name}.`, value);
  }
}

/** Delivers parts as JSON texts. */
const asJson: Delivery = {
  format: 'incrementalSpec=v0.2',
  contentType: 'application/json',
  frame: (json) => json,
};

/** The signal of a caller without a deadline. */
const never = new AbortController().signal;

/**
 * Parses the parts of a result, of which a whole result has one, and yields the merged result after
 * each. Objects that a part adds to are copied, as are their parents; all others are shared with the
 * previous result.
 */
async function* mergeParts(body: EncodedResult['body']): AsyncGenerator<PartialResult, void> {
  const paths = new Map<string, Path>();
  let result: PartialResult = { hasNext: true };
  for await (const text of typeof body === 'string' ? [body] : body) {
    const part = parseJson(text, String) as TypedPart;
    for (const { id, path } of part.pending ?? []) paths.set(id, path);
    result = addPart(result, part, paths);
    yield result;
  }
}

function addPart(
  before: PartialResult,
  { data, extensions, hasNext = false, ...part }: TypedPart,
  paths: ReadonlyMap<string, Path>,
): PartialResult {
  let merged = data === undefined ? before.data : data;
  const errors: TypedError[] = [...(before.errors ?? []), ...(part.errors ?? [])];
  for (const { id = '', subPath = [], data, errors: own = [] } of part.incremental ?? []) {
    const path = [...(paths.get(id) ?? []), ...subPath];
    if (data) merged = addAt(merged ?? {}, path, data) as Record<string, unknown>;
    errors.push(...own);
  }
  for (const { errors: own = [] } of part.completed ?? []) errors.push(...own);
  return {
    ...before,
    ...(merged !== undefined && { data: merged }),
    ...(errors.length > 0 && { errors }),
    ...(extensions && { extensions: { ...before.extensions, ...extensions } }),
    hasNext,
  };
}

/** Returns a copy of an object or list, with these members added to the object at the path. */
function addAt(target: object, [key, ...rest]: Path, members: object): object {
  if (key === undefined) return { ...target, ...members };
  const below = addAt(Reflect.get(target, key) ?? {}, rest, members);
  return Array.isArray(target) ? target.with(Number(key), below) : { ...target, [key]: below };
}
