import { type DocumentNode, type GraphQLSchema, getOperationAST } from 'graphql';
import { type CompiledOperation, compileOperation } from '../execution/compile.ts';
import { createDocumentCache } from './document-cache.ts';
import { type Deprecation, deprecationsOf } from './plugins/use-deprecations.ts';

/** An operation that was parsed, checked and compiled, and needs its variables only. */
export interface PreparedOperation {
  readonly type: string;
  readonly name: string | undefined;
  readonly deprecations: readonly Deprecation[];
  readonly execute: CompiledOperation;
}

/** What compiled operations may take, in bytes; those that are used keep their place. */
const maxBytes = 32 * 1024 * 1024;

/** Operations by their text. Compiling costs, so an operation earns it by coming a second time. */
export class PreparedOperations {
  readonly #schema: GraphQLSchema;
  readonly #prepared = createDocumentCache<PreparedOperation>(maxBytes);
  readonly #seen = createDocumentCache<true>(maxBytes);

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  get(query: string, operationName: string | undefined): PreparedOperation | undefined {
    return this.#prepared.get(keyOf(query, operationName));
  }

  /** Notes a document that has passed every check, and prepares it when it comes again. */
  note(query: string, operationName: string | undefined, document: DocumentNode): void {
    const key = keyOf(query, operationName);
    if (!this.#seen.get(key)) {
      this.#seen.set(key, true);
      return;
    }
    const operation = getOperationAST(document, operationName);
    const execute = compileOperation(this.#schema, document, operationName);
    if (!operation || execute === undefined) return;
    this.#prepared.set(key, {
      type: operation.operation,
      name: operation.name?.value,
      deprecations: deprecationsOf(this.#schema, document),
      execute,
    });
  }
}

/** NUL stands in no document and no name that was checked, so no two keys can run together. */
function keyOf(query: string, operationName: string | undefined): string {
  return operationName === undefined ? query : `\0${operationName}\0${query}`;
}
