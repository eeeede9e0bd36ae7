import { parsePlainJson } from '../contract/json.ts';
import type { TypedError } from '../graphql/result.ts';
import type { TypedPart } from './graphql/encoded-parts.ts';
import type { EncodedResult } from './graphql/encoded-result.ts';
import type { LocalPartialResult } from './local-caller.ts';

type PartialResult = LocalPartialResult<Record<string, unknown>>;

type Path = readonly (string | number)[];

/**
 * Parses the parts of a result, of which a whole result has one, and yields the merged result after
 * each. Objects that a part adds to are copied, as are their parents; all others are shared with the
 * previous result.
 */
export async function* mergeParts(
  body: EncodedResult['body'],
): AsyncGenerator<PartialResult, void> {
  const paths = new Map<string, Path>();
  let result: PartialResult = { hasNext: true };
  for await (const text of typeof body === 'string' ? [body] : body) {
    const part = parsePlainJson(text) as TypedPart;
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
