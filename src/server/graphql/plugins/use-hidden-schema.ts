import { NoSchemaIntrospectionCustomRule, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Keeps the schema to itself: answers no introspection, and no "Did you mean" that would tell it. */
export function useHiddenSchema(): Plugin {
  return {
    onValidate({ addValidationRule, setValidationFn }) {
      addValidationRule(NoSchemaIntrospectionCustomRule);
      setValidationFn((schema, document, rules) =>
        validate(schema, document, rules, { hideSuggestions: true }),
      );
    },
    onExecute({ args }) {
      // Variables are read by the executor, which has the same option of its own.
      Object.assign(args, { hideSuggestions: true });
    },
  };
}
