import {
  type ASTNode,
  GraphQLError,
  KnownOperationTypesRule,
  type ValidationRule,
  validate,
} from 'graphql';
import type { OperationPlugin } from './operation-context.ts';
import { createBoundedParse, type OperationLimits } from './operation-limits.ts';
import { prepareDocument } from './prepared-documents.ts';

/** What documents may contain. */
export interface DocumentOptions {
  readonly operationLimits: OperationLimits;
  /** Allow introspection, and suggest names for misspelt ones; `keys`: only introspection, to accepted keys. */
  readonly introspection: boolean | 'keys';
}

/** The most validation errors of a document. */
const maxErrors = 10;

/**
 * Limits, parses, validates and prepares each text once. A document is validated again for another
 * schema and other rules, which plugins may add. Unless everyone may introspect, errors omit "Did you
 * mean" suggestions, which would reveal the schema.
 */
export function usePreparedDocuments({
  operationLimits,
  introspection,
}: DocumentOptions): OperationPlugin {
  const parse = createBoundedParse(operationLimits);
  const options = { maxErrors, hideSuggestions: introspection !== true };
  const rule = refuseUnsupported(introspection);
  return {
    onParse({ context: { prepared }, setParsedDocument, setParseFn }) {
      if (prepared === undefined) setParseFn(parse);
      else setParsedDocument(prepared.document);
    },
    onValidate({ context: { prepared }, params, extendContext, setResult }) {
      const { schema, documentAST: document, rules = [] } = params;
      // Plugins may have replaced the document.
      const isKnown = prepared?.document === document && prepared?.isValidFor(schema, rules);
      if (isKnown) return void setResult([]);
      const others = rules.filter((one: unknown) => one !== KnownOperationTypesRule);
      const errors = validate(schema, document, [...others, rule], options);
      // A stack that is not read holds 70 KB.
      for (const error of errors) error.stack = '';
      if (errors.length === 0) {
        extendContext({ prepared: prepareDocument(document, schema, rules, introspection) });
      }
      setResult(errors);
    },
  };
}

const noSubscription =
  'Expected a query or a mutation, received a subscription. Repeat a query at an interval instead.';

const noIntrospection =
  'Expected fields of the store, received introspection, which is off. Use the schema of petstore-gateway-client, or set INTROSPECTION=on.';

/** Refuses subscriptions, and introspection if it is off, with advice. */
function refuseUnsupported(introspection: boolean | 'keys'): ValidationRule {
  return (context) => {
    function refuse(nodes: ASTNode, message: string): false {
      context.reportError(new GraphQLError(message, { nodes }));
      return false;
    }
    return {
      OperationDefinition: (node) =>
        node.operation === 'subscription' && !context.getSchema().getSubscriptionType()
          ? refuse(node, noSubscription)
          : undefined,
      Field: (node) =>
        !introspection && /^__(?:schema|type)$/.test(node.name.value)
          ? refuse(node, noIntrospection)
          : undefined,
    };
  };
}
