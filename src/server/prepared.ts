import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { createDocumentCache } from './document-cache.ts';
import { type Deprecation, deprecationsOf } from './plugins/use-deprecations.ts';

/** An operation that was parsed, checked and compiled, and needs its variables only. */
export interface PreparedOperation {
  readonly type: string;
  readonly name: string | undefined;
  readonly deprecations: readonly Deprecation[];
  /** Executes it; undefined when the variables can't be read. */
  execute(
    context: object,
    variables: object,
  ): ExecutionResult | Promise<ExecutionResult> | undefined;
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
    const compiled = compileQuery(this.#schema, document, operationName);
    if (!operation || !isCompiledQuery(compiled)) return;
    const { query: run } = compiled as CompiledQuery;
    this.#prepared.set(key, {
      type: operation.operation,
      name: operation.name?.value,
      deprecations: deprecationsOf(this.#schema, document),
      execute(context, variables) {
        const result = run(undefined, context, variables);
        // Only variables that can't be read end it before it begins, without a promise.
        return 'then' in result || result.data !== undefined ? result : undefined;
      },
    });
  }
}

function keyOf(query: string, operationName: string | undefined): string {
  return operationName === undefined ? query : `${operationName}\n${query}`;
}
