import { createBoundedValidate } from './bounded-validation.ts';
import type { OperationPlugin } from './operation-context.ts';
import { createBoundedParse, type OperationLimits } from './operation-limits.ts';
import { type PreparedDocuments, prepareDocument } from './prepared-documents.ts';

/** What documents may contain. */
export interface DocumentOptions {
  readonly operationLimits: OperationLimits;
  /** Allow introspection, and suggest names for misspelt ones; `keys`: only introspection, to accepted keys. */
  readonly introspection: boolean | 'keys';
}

/**
 * Limits, parses, validates and prepares each text once. A document is validated again for another
 * schema and other rules, which plugins may add.
 */
export function usePreparedDocuments(
  documents: PreparedDocuments,
  { operationLimits, introspection }: DocumentOptions,
): OperationPlugin {
  const parse = createBoundedParse(operationLimits);
  const validate = createBoundedValidate(introspection);
  return {
    onParse({ context, params: { source }, setParsedDocument, setParseFn }) {
      const found = documents.find(source, context.scope.key);
      if (found === undefined) setParseFn(parse);
      else setParsedDocument(found.document);
    },
    onValidate({ context, params, setResult, setValidationFn }) {
      const { schema, documentAST: document, rules = [] } = params;
      if (documents.get(document)?.isValidFor(schema, rules)) {
        setResult([]);
        return undefined;
      }
      setValidationFn(validate);
      return ({ valid }) => {
        if (!valid) return;
        const prepared = prepareDocument(document, schema, rules, introspection);
        documents.add(prepared, context.scope.key);
      };
    },
  };
}
