import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FetchHandler } from '../../src/server/http/fetch.ts';
import { type Operation, readOpenApi, type Schema } from './openapi.ts';

/**
 * The same gateway, its responses held against the OpenAPI document. Disposing throws when one of
 * them did not conform.
 */
export function checkResponses(
  gateway: FetchHandler,
): { readonly gateway: FetchHandler } & Disposable {
  const violations = new Set<string>();
  const checked = async (request: Request) => {
    const response = await gateway(request);
    for (const violation of await violationsOf(request, response.clone())) {
      violations.add(violation);
    }
    return response;
  };
  return {
    gateway: checked,
    [Symbol.dispose]() {
      if (violations.size === 0) return;
      const list = [...violations].join('\n');
      throw new Error(`Expected what schema/openapi.yaml says, received:\n${list}`);
    },
  };
}

/** The addresses that the document is about. */
const described = /^\/(?:v1(?!\/docs|\/openapi)|quickstart)\//;

/**
 * What the OpenAPI document has against a response: nothing, an empty list, when it conforms or the
 * address is none of the document's. Integers are read with all their digits. Stricter than the
 * document, a body may hold no field that is not described.
 */
export async function violationsOf(request: Request, response: Response): Promise<string[]> {
  const { pathname } = new URL(request.url);
  if (!described.test(pathname)) return [];
  const { operations, error } = await readOpenApi();
  const operation = operations.find(
    ({ method, path }) =>
      method === request.method.replace('HEAD', 'GET') && pattern(path).test(pathname),
  );
  const { status } = response;
  const wrong = (what: string) => [`${request.method} ${pathname} ${status}: ${what}`];

  const type = response.headers.get('content-type');
  const schema = operation ? schemaOf(operation, status, type) : status >= 400 && error;
  if (!schema) return wrong(`not described, with content type ${type}`);
  if (request.method === 'HEAD') return [];

  const body = parse(await response.text());
  const validate = validator(schema);
  if (!validate(body)) return wrong(ajv.errorsText(validate.errors, { dataVar: 'body' }));
  const told = status >= 400 ? (body as { status: number }).status : status;
  return told === status ? [] : wrong(`its Error body says ${told}`);
}

function schemaOf(operation: Operation, status: number, type: string | null): Schema | undefined {
  const described = operation.responses[status] ?? operation.responses['default'];
  return described?.content[type ?? '']?.schema;
}

/** A path template as an expression; a parameter is one segment. */
function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

const ajv = new Ajv2019({ allErrors: true, formats: fullFormats });

// `type: integer` would refuse what no double holds.
ajv.addKeyword({
  keyword: 'int64',
  validate: (_schema: unknown, value: unknown) =>
    typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value),
});

const validators = new Map<Schema, ValidateFunction>();

function validator(schema: Schema): ValidateFunction {
  const made = validators.get(schema) ?? ajv.compile(exact(closed(schema)));
  validators.set(schema, made);
  return made;
}

/** The schema without room for fields that are not described. */
function closed(schema: Schema): object {
  if (schema.items) return { ...schema, items: closed(schema.items) };
  const isObject = schema.type === 'object' || schema.allOf !== undefined;
  return isObject ? { ...schema, type: 'object', unevaluatedProperties: false } : schema;
}

function exact(schema: object): object {
  const isInt64 = (value: unknown) => (value as Schema | null)?.format === 'int64';
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    isInt64(value) ? { int64: true } : value,
  ) as object;
}

/** JSON with unsafe integers as bigints; undefined for other text, which is no body. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value, { source }) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(source ?? '') : value,
    );
  } catch {
    return undefined;
  }
}
