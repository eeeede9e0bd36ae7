import { type DocumentNode, GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { GatewayContext } from '../../graphql/context.ts';
import type { Deprecation } from '../../graphql/deprecations.ts';
import type { OperationLimits } from '../../graphql/operation-cost.ts';
import { schema } from '../../graphql/schema.ts';
import { useCompiledExecution } from './plugins/use-compiled-execution.ts';
import { useDeprecations } from './plugins/use-deprecations.ts';
import { useHiddenSchema } from './plugins/use-hidden-schema.ts';
import { useOperationLimits } from './plugins/use-operation-limits.ts';

/** What documents may ask for. */
export interface EngineOptions {
  /** Answer introspection, and suggest names where one is misspelt. */
  readonly introspection: boolean;
  readonly operationLimits: OperationLimits;
}

/** An operation whose document was read, with what its resolvers work with. */
export interface ExecutableOperation {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly contextValue: GatewayContext;
}

/** What an operation comes to. */
export interface EngineResult {
  readonly errors?: readonly GraphQLError[];
  readonly data?: Record<string, unknown> | null;
  readonly extensions?: { readonly deprecations: readonly Deprecation[] };
}

/** Yoga without its HTTP: the schema, and the plugins around parsing, validating and executing. */
export interface GraphqlEngine {
  /** Parses a document and checks it; the errors are the client's. @throws HttpError beyond a limit. */
  readDocument(text: string): DocumentNode | { readonly errors: readonly GraphQLError[] };
  /** Executes an operation of a document that was read. */
  execute(operation: ExecutableOperation): Promise<EngineResult>;
}

/** Makes the engine. A plugin added here sees every document and every execution. */
export function createEngine(options: EngineOptions): GraphqlEngine {
  const yoga = createYoga<object>({
    schema,
    plugins: [
      useOperationLimits(options.operationLimits),
      !options.introspection && useHiddenSchema(),
      useDeprecations(),
      // Last, because it decides what executes.
      useCompiledExecution(),
    ],
    // The handler keeps documents and masks errors.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  // No plugin depends on the request before it is executed, so one envelope serves all of them.
  const { parse, validate, execute } = yoga.getEnveloped({} as never);

  return {
    readDocument(text) {
      let document: DocumentNode;
      try {
        document = parse(text);
      } catch (error) {
        if (error instanceof GraphQLError) return { errors: [syntaxError(error)] };
        throw error;
      }
      const errors: readonly GraphQLError[] = validate(schema, document);
      return errors.length > 0 ? { errors } : document;
    },
    execute: async ({ document, operationName, variables, contextValue }) =>
      execute({ schema, document, operationName, variableValues: variables, contextValue }),
  };
}

function syntaxError({ message, source, positions }: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    source,
    positions,
    extensions: { code: 'GRAPHQL_PARSE_FAILED' },
  });
}
