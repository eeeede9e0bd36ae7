import { openApiJson } from '../../src/v1/openapi.ts';

/** An operation of the OpenAPI document and where this server has it. */
export interface Operation {
  readonly operationId: string;
  /** In capitals, as in a request. */
  readonly method: string;
  /** Below this server, such as `/v1/pets/{petId}`. */
  readonly path: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'query' | 'path';
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

/** The schema of a body by its media type. */
export type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** As much of a schema object as the document uses; what `$ref` named stands in its place. */
export interface Schema {
  readonly type?: 'integer' | 'string' | 'array' | 'object';
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
}

/** What tests need of the OpenAPI document as it is served. */
export interface OpenApi {
  readonly operations: readonly Operation[];
  /** The body of every error. */
  readonly error: Schema;
}

let read: Promise<OpenApi> | undefined;

/** Reads the document at the first call. */
export function readOpenApi(): Promise<OpenApi> {
  read ??= openApiJson().then((text) => toOpenApi(JSON.parse(text)));
  return read;
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type PathItem = Partial<Pick<Document, 'servers'>> & {
  readonly [Method in 'get' | 'post']?: Operation;
};

function toOpenApi(text: unknown): OpenApi {
  const document = withoutReferences(text, text) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      // The first server is this instance.
      path: `${(servers ?? document.servers)[0]?.url}${path}`,
    })),
  );
  const { Error: error = {} } = document.components.schemas;
  return { operations, error };
}

/** A copy with what each `$ref` names in its place. */
function withoutReferences(value: unknown, document: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, document));
  if ('$ref' in value) {
    const named = String(value.$ref)
      .split('/')
      .slice(1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
    return withoutReferences(named, document);
  }
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    withoutReferences(item, document),
  ]);
  return Object.fromEntries(entries);
}
