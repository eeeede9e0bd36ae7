import {
  type ASTNode,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  KnownOperationTypesRule,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import type { GraphqlContract } from '../graphql/graphql-contract.ts';
import { type OperationPlugin, own } from './operation-context.ts';
import { createBoundedParse, type OperationLimits } from './operation-limits.ts';
import { type PreparedDocument, prepareDocument } from './prepared-documents.ts';
import { interpret } from './prepared-operation.ts';
import { typeOwnErrors } from './type-own-errors.ts';

/** What documents may contain. */
export interface DocumentOptions {
  readonly operationLimits: OperationLimits;
  /** Allow introspection, and suggest names for misspelt ones; `keys`: only introspection, to accepted keys. */
  readonly introspection: boolean | 'keys';
}

/** The most validation errors of a document. */
const maxErrors = 10;

/**
 * Limits, parses, validates and prepares each text once, and executes the document that the hooks leave.
 * It is validated again for another schema and other rules, which plugins may add. Unless everyone may
 * introspect, errors omit "Did you mean" suggestions, which would reveal the schema.
 * @param hooks whether those of others see results, and so typed errors of the pet store
 * @returns the plugin, and what prepares a document of which a plugin has skipped the validation
 */
export function usePreparedDocuments(
  { operationLimits, introspection, graphql }: DocumentOptions & { graphql: GraphqlContract },
  hooks: { readonly seeResults: boolean },
) {
  const parse = createBoundedParse(operationLimits);
  const options = { maxErrors, hideSuggestions: introspection !== true };
  const rule = refuseUnsupported(introspection);
  const validated = new WeakMap<DocumentNode, PreparedDocument>();
  /** Those of plugins that were executed without being validated. */
  const executed = new WeakMap<DocumentNode, PreparedDocument>();

  const validateOnce: typeof validate = (schema, document, rules = specifiedRules) => {
    if (validated.get(document)?.isValidFor(schema, rules)) return [];
    const most = rules.filter((one) => one !== KnownOperationTypesRule);
    const errors = validate(schema, document, [...most, rule], options);
    // A stack that is not read holds 70 KB.
    for (const error of errors) error.stack = '';
    if (errors.length === 0) {
      validated.set(
        document,
        prepareDocument(document, schema, rules, introspection, graphql.inputChecks),
      );
    }
    return errors;
  };

  function prepare({ document, schema }: Pick<ExecutionArgs, 'document' | 'schema'>) {
    let known = validated.get(document);
    if (known?.schema !== schema) known = executed.get(document);
    if (known?.schema === schema) return known;
    const other = prepareDocument(document, schema, [], introspection, graphql.inputChecks);
    executed.set(document, other);
    return other;
  }

  const plugin: OperationPlugin = {
    // Before the hooks of others, which may wrap or replace each function.
    onParse({ context, setParseFn }) {
      const state = context[own];
      setParseFn((source, parseOptions) => {
        if (source !== state.text) return parse(source, parseOptions);
        state.parsed = state.known?.document ?? parse(source, parseOptions);
        return state.parsed;
      });
    },
    onValidate: ({ setValidationFn }) => setValidationFn(validateOnce),
    onExecute({ context, setExecuteFn }) {
      const state = context[own];
      setExecuteFn((args: ExecutionArgs) => {
        const operation = prepare(args).find(args.operationName ?? undefined);
        if (operation === undefined) return interpret(args);
        context.petStore.isAlone = operation.calls === 1 && args.schema === graphql.schema;
        const result = operation.execute(args, state.delivery);
        if (!hooks.seeResults && !operation.isDeferred) return result;
        return Promise.resolve(result).then((settled) => {
          state.executed = hooks.seeResults ? typeOwnErrors(settled, state.request) : settled;
          return state.executed;
        });
      });
    },
  };
  return { plugin, prepare };
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
        node.operation === 'subscription' ? refuse(node, noSubscription) : undefined,
      Field: (node) =>
        !introspection && /^__(?:schema|type)$/.test(node.name.value)
          ? refuse(node, noIntrospection)
          : undefined,
    };
  };
}
