import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  KnownOperationTypesRule,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';

/** The most validation errors of a document. */
const maxErrors = 10;

/**
 * Creates the function that validates documents, up to `maxErrors`. If introspection is off, it refuses
 * introspection fields. Unless everyone may introspect, it omits "Did you mean" suggestions, which
 * would reveal the schema.
 */
export function createBoundedValidate(introspection: boolean | 'keys') {
  const options = { maxErrors, hideSuggestions: introspection !== true };
  const rule = refuseUnsupported(introspection);
  return (
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: readonly ValidationRule[],
  ): readonly GraphQLError[] => {
    const others = rules.filter((one) => one !== KnownOperationTypesRule);
    const errors = validate(schema, shortenStrings(document), [...others, rule], options);
    // A stack that is not read holds 70 KB.
    for (const error of errors) error.stack = '';
    return errors;
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

/**
 * Shortens each long string, because graphql-js quotes the whole input in each error. The errors are
 * the same: no type of the schema depends on how a string ends.
 */
function shortenStrings(document: DocumentNode): DocumentNode {
  return visit(document, {
    StringValue: (node) =>
      node.value.length > 1000 ? { ...node, value: `${node.value.slice(0, 1000)}…` } : undefined,
  });
}
