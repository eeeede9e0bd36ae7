import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { OperationLimits } from '../../graphql/operation-cost.ts';
import { schema } from '../../graphql/schema.ts';
import { maxErrors, useBoundedValidation } from './plugins/use-bounded-validation.ts';
import { useOperationLimits } from './plugins/use-operation-limits.ts';
import { PreparedDocument } from './prepared-document.ts';

/** What documents may ask for. */
export interface EngineOptions {
  /** Answer introspection, and suggest names where one is misspelt. */
  readonly introspection: boolean;
  readonly operationLimits: OperationLimits;
}

/**
 * Parses a document and checks it; the errors are the client's mistakes.
 * @throws HttpError beyond a limit.
 */
export type PrepareDocument = (text: string) => PreparedDocument | readonly GraphQLError[];

/**
 * A plugin sees each document once, when it is prepared. What each request needs belongs in the
 * handler: to pass a compiled execution through Yoga's hooks costs a microsecond.
 */
type DocumentPlugin = Pick<Plugin, 'onParse' | 'onValidate'>;

/** Makes Yoga without its HTTP: the schema, and the plugins around parsing and validating. */
export function createEngine({ introspection, operationLimits }: EngineOptions): PrepareDocument {
  const plugins: readonly DocumentPlugin[] = [
    useOperationLimits(operationLimits),
    useBoundedValidation(introspection),
  ];
  const yoga = createYoga({
    schema,
    plugins: [...plugins],
    // The handler keeps documents and types errors.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  // No plugin looks at the request, so one envelope serves all of them.
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
