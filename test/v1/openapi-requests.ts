import fc, { type Arbitrary } from 'fast-check';
import { stringifyJson } from '../../src/contract/json.ts';
import { anyCharacter } from '../support/fuzzed.ts';
import type { Operation, Schema } from '../support/openapi.ts';

/** A request to send. `body` is undefined if the operation has no request body. */
export interface PlannedRequest {
  readonly method: string;
  /** The path with the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Generates valid requests for an operation, with this API key. */
export function validRequests(operation: Operation, apiKey: string): Arbitrary<PlannedRequest> {
  const { method, path, parameters = [] } = operation;
  const optional = parameters.filter((parameter) => parameter.in === 'query');
  const schema = bodySchema(operation);
  return fc
    .record({
      values: each(parameters, (parameter) => valuesOf(parameter.schema).map(String)),
      given: fc.subarray(optional.map(({ name }) => name)),
      body: schema ? valuesOf(schema).map(stringifyJson) : fc.constant(undefined),
    })
    .map(({ values, given, body }) => ({
      method,
      path: fill(
        path,
        values,
        Object.entries(values).filter(([name]) => given.includes(name)),
      ),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
    }));
}

/** Generates requests with arbitrary parameters, headers and bodies. Few of them are valid. */
export function anyRequests(operation: Operation, apiKey: string): Arbitrary<PlannedRequest> {
  const { method, path, parameters = [] } = operation;
  const schema = bodySchema(operation);
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('', '0', '101', '1e2', '1.0', '+5', '9223372036854775808', 'sold', '..'),
    ...parameters.map((parameter) => valuesOf(parameter.schema).map(String)),
  );
  const names = fc.oneof(fc.constantFrom('limit', 'status'), fc.string({ unit: anyCharacter }));
  const key = `Bearer ${apiKey}`;
  return fc
    .record({
      method: method === 'GET' ? fc.constantFrom('GET', 'HEAD') : fc.constant(method),
      values: each(parameters, () => texts),
      query: fc.array(fc.tuple(names, texts), { maxLength: 3 }),
      authorization: fc.constantFrom(key, key, key, 'Bearer wrong-key', 'Basic eDp5', ''),
      type: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'text/plain'),
      body: schema ? bodiesLike(schema) : fc.constant(undefined),
    })
    .map(({ method, values, query, authorization, type, body }) => ({
      method,
      path: fill(path, values, query),
      headers: { authorization, 'content-type': type },
      body,
    }));
}

/** Generates bodies from valid ones to bytes that are not UTF-8. */
function bodiesLike(schema: Schema): Arbitrary<string | Uint8Array<ArrayBuffer>> {
  const names = Object.keys(schema.properties ?? {});
  return fc.oneof(
    valuesOf(schema).map(stringifyJson),
    fc
      .tuple(valuesOf(schema), fc.constantFrom(...names), fc.jsonValue())
      .map(([value, name, other]) => stringifyJson({ ...Object(value), [name]: other })),
    fc.json(),
    fc.string({ unit: anyCharacter }),
    fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
  );
}

/** Generates valid values, int64 as bigints. @throws for a schema that no request uses. */
function valuesOf(schema: Schema): Arbitrary<unknown> {
  const { type, format, minimum = 0, maximum = 0, properties = {}, required = [] } = schema;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (format === 'int64') return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum });
  if (type === 'string') return fc.string({ unit: 'grapheme' });
  if (type !== 'object') throw new Error(`Cannot generate values for ${JSON.stringify(schema)}.`);
  const values: Record<string, Arbitrary<unknown>> = {};
  for (const [name, property] of Object.entries(properties)) values[name] = valuesOf(property);
  return fc.record(values, { requiredKeys: [...required] });
}

function bodySchema({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content['application/json']?.schema;
}

/** Generates a value for each parameter, by name. */
function each(
  parameters: NonNullable<Operation['parameters']>,
  values: (parameter: (typeof parameters)[number]) => Arbitrary<string>,
): Arbitrary<Record<string, string>> {
  return fc.record(Object.fromEntries(parameters.map((one) => [one.name, values(one)])));
}

/** Fills in a path template and appends the query string. */
function fill(path: string, values: Readonly<Record<string, string>>, query: string[][]): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));
  return query.length > 0 ? `${filled}?${new URLSearchParams(query)}` : filled;
}
