import { NoSchemaIntrospectionCustomRule, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Keeps the schema to itself: answers no introspection, and no "Did you mean" that would show it. */
export function useHiddenSchema(): Pick<Plugin, 'onValidate'> {
  return {
    onValidate({ addValidationRule, setValidationFn }) {
      addValidationRule(NoSchemaIntrospectionCustomRule);
      setValidationFn((schema, document, rules) =>
        validate(schema, document, rules, { hideSuggestions: true }),
      );
    },
  };
}
