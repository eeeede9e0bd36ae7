import { NoSchemaIntrospectionCustomRule, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { shortenDocument } from '../shorten-input.ts';

/** The most validation errors of a document, and of the variables of a request. */
export const maxErrors = 10;

/**
 * Stops validation after `maxErrors`. If introspection is off, refuses introspection fields and
 * omits "Did you mean" suggestions, which would reveal the schema.
 */
export function useBoundedValidation(introspection: boolean): Pick<Plugin, 'onValidate'> {
  const options = { maxErrors, hideSuggestions: !introspection };
  return {
    onValidate({ addValidationRule, setValidationFn }) {
      if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
      setValidationFn((schema, document, rules) =>
        validate(schema, shortenDocument(document), rules, options),
      );
    },
  };
}
