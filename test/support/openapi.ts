import { contract } from '../../src/petstore/operations.ts';
import { openApiJson } from '../../src/v1/reference.ts';

/** An operation of the OpenAPI document, with its path on this server. */
export interface Operation {
  readonly operationId: string;
  /** In upper case, as in a request. */
  readonly method: string;
  /** The path on this server, such as `/v1/pets/{petId}`. */
  readonly path: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'query' | 'path';
    readonly schema: Schema;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Content };
  /** A response without content has no body. */
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The schema and the example of a body by its media type. */
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

/** The parts of a schema object that the document uses, with every `$ref` resolved. */
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

/** The parts of the served OpenAPI document that tests use. */
interface OpenApi {
  readonly operations: readonly Operation[];
  /** The body of every error. */
  readonly error: Schema;
}

let read: Promise<OpenApi> | undefined;

/** Parses the document on the first call and caches the result. */
export function readOpenApi(): Promise<OpenApi> {
  read ??= openApiJson(contract).then((text) => toOpenApi(JSON.parse(text)));
  return read;
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type PathItem = Partial<Pick<Document, 'servers'>> & {
  readonly [Method in 'get' | 'post' | 'put' | 'delete']?: Operation;
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
  // Literal paths precede templates that match them too (OpenAPI Specification, "Paths Object").
  operations.sort(
    (one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')),
  );
  const { Error: error = {} } = document.components.schemas;
  return { operations, error };
}

/** A copy in which every `$ref` is replaced by its target. */
function withoutReferences(value: unknown, document: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, document));
  if ('$ref' in value) {
    const [, ...keys] = String(value.$ref).split('/');
    const target = keys.reduce<unknown>((at, key) => Object(at)[key], document);
    return withoutReferences(target, document);
  }
  const replace = ([key, item]: [string, unknown]) => [key, withoutReferences(item, document)];
  return Object.fromEntries(Object.entries(value).map(replace));
}
