import { NoSchemaIntrospectionCustomRule, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { shortenDocument } from '../quoted-input.ts';

/** The most errors that a document, or the variables of a request, are refused with. */
export const maxErrors = 10;

/**
 * Validates documents until there are `maxErrors`. Without introspection the schema stays hidden: no
 * introspection, and no "Did you mean" that would show it.
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
