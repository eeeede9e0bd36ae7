import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { OperationLimits } from '../../graphql/operation-cost.ts';
import { schema } from '../../graphql/schema.ts';
import { maxErrors, useBoundedValidation } from './plugins/use-bounded-validation.ts';
import { useOperationLimits } from './plugins/use-operation-limits.ts';
import { PreparedDocument } from './prepared-document.ts';

/** What documents may contain. */
export interface EngineOptions {
  /** Allow introspection, and suggest names for misspelt ones. */
  readonly introspection: boolean;
  readonly operationLimits: OperationLimits;
}

/**
 * Parses and validates a document. Returns the errors if it is invalid.
 * @throws HttpError if it exceeds a limit.
 */
export type PrepareDocument = (text: string) => PreparedDocument | readonly GraphQLError[];

/**
 * A plugin that runs once per document, when it is prepared. Work per request belongs in the
 * handler: Yoga's hooks cost a microsecond per execution.
 */
type DocumentPlugin = Pick<Plugin, 'onParse' | 'onValidate'>;

/** Creates the engine: Yoga's parsing and validation with plugins, without its HTTP handling. */
export function createEngine({ introspection, operationLimits }: EngineOptions): PrepareDocument {
  const plugins: readonly DocumentPlugin[] = [
    useOperationLimits(operationLimits),
    useBoundedValidation(introspection),
  ];
  const yoga = createYoga({
    schema,
    plugins: [...plugins],
    // The handler caches documents and types errors.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  // No plugin reads the request, so all requests share one envelope.
  const { parse, validate } = yoga.getEnveloped({} as never);

  const executionOptions = {
    hideSuggestions: !introspection,
    options: { maxCoercionErrors: maxErrors },
  };

  return (text) => {
    try {
      const document = parse(text);
      const errors: readonly GraphQLError[] = validate(schema, document);
      if (errors.length > 0) return errors;
      return new PreparedDocument({ schema, document, ...executionOptions });
    } catch (error) {
      if (error instanceof GraphQLError) return [syntaxError(error)];
      throw error;
    }
  };
}

function syntaxError({ message, source, positions }: GraphQLError): GraphQLError {
  const extensions = { code: 'GRAPHQL_PARSE_FAILED' };
  return new GraphQLError(message, { source, positions, extensions });
}
