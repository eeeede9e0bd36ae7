import { GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { compileOperation } from '../execution/compile.ts';
import { schema } from '../graphql/schema.ts';
import { PreparedDocument } from './prepared-document.ts';
import { useBoundedValidation } from './use-bounded-validation.ts';
import { type OperationLimits, useOperationLimits } from './use-operation-limits.ts';

/** What documents may contain. */
export interface EngineOptions {
  /** Allow introspection, and suggest names for misspelt ones; `keys`: only introspection, to accepted keys. */
  readonly introspection: boolean | 'keys';
  readonly operationLimits: OperationLimits;
}

/**
 * Parses and validates a document. Returns the errors if it is invalid.
 * @throws HttpError if it exceeds a limit.
 */
export type PrepareDocument = (text: string) => PreparedDocument | readonly GraphQLError[];

/**
 * Creates the engine: Yoga's parsing and validation without its HTTP handling. Its plugins run once
 * per document. Work per request belongs in the handler: Yoga's hooks cost a microsecond each time.
 */
export function createEngine({ introspection, operationLimits }: EngineOptions): PrepareDocument {
  const yoga = createYoga({
    schema,
    plugins: [useOperationLimits(operationLimits), useBoundedValidation(introspection)],
    // The handler caches documents and types errors.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  // No plugin reads the request, so all requests share one envelope.
  const { parse, validate } = yoga.getEnveloped({} as never);
  const execution = {
    schema,
    compile: compileOperation,
    introspection,
    options: { maxCoercionErrors: 1 },
  };

  return (text) => {
    try {
      const document = parse(text);
      const errors: readonly GraphQLError[] = validate(schema, document);
      return errors.length > 0 ? errors : new PreparedDocument({ ...execution, document });
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const { message, source, positions } = error;
      const extensions = { code: 'GRAPHQL_PARSE_FAILED' };
      return [new GraphQLError(message, { source, positions, extensions })];
    }
  };
}
