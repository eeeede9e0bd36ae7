import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FetchHandler } from '../../src/http/http-message.ts';
import { type Operation, readOpenApi, type Schema } from './openapi.ts';

/**
 * Wraps a gateway and checks its responses against the OpenAPI document. Disposing throws if a
 * response violated the document.
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
      throw new Error(`Expected responses that conform to schema/openapi.yaml, received:\n${list}`);
    },
  };
}

/** The paths that the document describes. */
const describedPaths = /^\/(?:v1(?!\/docs|\/openapi)|quickstart)\//;

/**
 * Lists how a response violates the OpenAPI document. The list is empty if the response conforms or
 * the document does not describe its path. Integers are compared exactly. The check is stricter
 * than the document: fields that are not described are violations.
 */
export async function violationsOf(request: Request, response: Response): Promise<string[]> {
  const { pathname } = new URL(request.url);
  if (!describedPaths.test(pathname)) return [];
  const { operations, error } = await readOpenApi();
  const operation = operations.find(
    ({ method, path }) =>
      method === request.method.replace('HEAD', 'GET') && pattern(path).test(pathname),
  );
  const { status } = response;
  // HTTP's own, for every GET.
  if (status === 304) return [];
  const violation = (message: string) => [`${request.method} ${pathname} ${status}: ${message}`];

  const type = response.headers.get('content-type');
  const described = operation?.responses[status];
  if (described && !described.content) {
    return type === null && (await response.text()) === '' ? [] : violation('expected no body');
  }
  const schema = operation ? schemaOf(operation, status, type) : status >= 400 && error;
  if (!schema) return violation(`not described, with content type ${type}`);
  if (request.method === 'HEAD') return [];

  const body = parse(await response.text());
  const validate = validator(schema);
  if (!validate(body)) return violation(ajv.errorsText(validate.errors, { dataVar: 'body' }));
  const bodyStatus = status >= 400 ? (body as { status: number }).status : status;
  return bodyStatus === status ? [] : violation(`the status in the Error body is ${bodyStatus}`);
}

function schemaOf(operation: Operation, status: number, type: string | null): Schema | undefined {
  const described = operation.responses[status] ?? operation.responses['default'];
  return described?.content?.[type ?? '']?.schema;
}

/** Converts a path template to a regular expression. A parameter matches one segment. */
function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

const ajv = new Ajv2019({ allErrors: true, formats: fullFormats });

// `type: integer` rejects integers that a double cannot represent.
ajv.addKeyword({
  keyword: 'int64',
  validate: (_schema: unknown, value: unknown) =>
    typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value),
});

const validators = new Map<Schema, ValidateFunction>();

function validator(schema: Schema): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile(exact(closed(schema)));
  validators.set(schema, validate);
  return validate;
}

/** The schema, changed to reject fields that it does not describe. */
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

declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** Parses JSON, with unsafe integers as bigints. Returns undefined for invalid JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value, { source }) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(source ?? '') : value,
    );
  } catch {
    return undefined;
  }
}
