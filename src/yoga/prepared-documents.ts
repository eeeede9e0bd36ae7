import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  KnownOperationTypesRule,
  separateOperations,
  TokenKind,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { conditionsOf, maxConditions } from '../execution/field-collector.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { OperationPlugin } from './operation-context.ts';
import { createBoundedParse, type OperationLimits, operationCosts } from './operation-limits.ts';
import { type PreparedOperation, prepareOperation } from './prepared-operation.ts';

/**
 * Upper bounds of the memory of a document, in bytes, from heap measurements. A field is one that an
 * operation has with fragments expanded, in one variant of compiled code.
 */
const bytes = { document: 2048, character: 2, node: 1024, comment: 256, field: 128 };

/** A parsed and validated document with its operations. */
type PreparedDocument = ReturnType<typeof prepareDocument>;

/** Prepares a valid document, for this schema. @param rules those that it was validated with */
function prepareDocument(
  document: DocumentNode,
  schema: GraphQLSchema,
  rules: readonly ValidationRule[],
  introspection: boolean | 'keys',
) {
  /** By the name of each operation: a document of it and the fragments that it uses. */
  const documents = separateOperations(document);
  const operations = new Map<string | undefined, PreparedOperation>();
  return {
    document,
    /** The names of its operations; an empty one if it has no name. */
    operationNames: Object.keys(documents),
    /** Whether it was validated with this schema and these rules. */
    isValidFor(givenSchema: GraphQLSchema, givenRules: readonly ValidationRule[]): boolean {
      if (givenSchema !== schema || givenRules.length !== rules.length) return false;
      for (let index = 0; index < rules.length; index++) {
        if (givenRules[index] !== rules[index]) return false;
      }
      return true;
    },
    /** Returns the operation of this name, or without a name the only one, if there is one. */
    find(operationName: string | undefined): PreparedOperation | undefined {
      const known = operations.get(operationName);
      if (known !== undefined) return known;
      const definition = getOperationAST(document, operationName);
      if (!definition) return undefined;
      const own = documents[definition.name?.value ?? ''] ?? document;
      const operation = prepareOperation(definition, own, schema, introspection);
      operations.set(operationName, operation);
      return operation;
    },
  };
}

/**
 * Estimates the memory of a document: its text, its nodes with tokens and locations, its comments, which
 * are tokens too, and the compiled code of all operations.
 */
function estimateBytes({ document }: PreparedDocument, text: string): number {
  let size = bytes.document + text.length * bytes.character;
  visit(document, {
    enter() {
      size += bytes.node;
    },
  });
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    if (token.kind === TokenKind.COMMENT) size += bytes.comment;
  }
  const fieldBytes = bytes.field * 2 ** Math.min(conditionsOf(document).length, maxConditions);
  for (const { maxFields } of operationCosts(document)) size += maxFields * fieldBytes;
  return size;
}

/** The most memory of prepared documents, including their compiled code, in bytes; one may take a quarter. */
const maxSize = 32 * 1024 * 1024;

/** A document of more characters that is not cached waits for a turn: validating 2,000 takes up to four ms. */
const longDocument = 250;

/** The valid documents of all operations, by their text. Callers whose key is not accepted add none. */
export class PreparedDocuments {
  readonly #cache = new LRUCache<string, PreparedDocument>({
    maxSize,
    maxEntrySize: maxSize / 4,
    sizeCalculation: estimateBytes,
  });
  readonly #prepared = new WeakMap<DocumentNode, PreparedDocument>();

  /** Whether the document of a text has to be prepared, in a turn of its own. */
  isLong(text: string): boolean {
    return text.length > longDocument && !this.#cache.has(text);
  }

  /** Returns the document of a text; undefined if it has to be parsed. */
  find(text: string): PreparedDocument | undefined {
    return this.#cache.get(text);
  }

  /** Returns a document that has been prepared, also one that is not cached. */
  get(document: DocumentNode): PreparedDocument | undefined {
    return this.#prepared.get(document);
  }

  add(prepared: PreparedDocument): void {
    this.#prepared.set(prepared.document, prepared);
  }

  /** Caches a document that was executed for an accepted key. Only one that was parsed from a text is found. */
  executed(prepared: PreparedDocument, { isAccepted }: ApiKey): void {
    const text = prepared.document.loc?.source.body;
    if (isAccepted && text !== undefined && this.#cache.peek(text) !== prepared) {
      this.#cache.set(text, prepared);
    }
  }
}

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
export function usePreparedDocuments(
  documents: PreparedDocuments,
  { operationLimits, introspection }: DocumentOptions,
): OperationPlugin {
  const parse = createBoundedParse(operationLimits);
  const options = { maxErrors, hideSuggestions: introspection !== true };
  const rule = refuseUnsupported(introspection);
  return {
    onParse({ params: { source }, setParsedDocument, setParseFn }) {
      const found = documents.find(source);
      if (found === undefined) setParseFn(parse);
      else setParsedDocument(found.document);
    },
    onValidate({ params, setResult }) {
      const { schema, documentAST: document, rules = [] } = params;
      if (documents.get(document)?.isValidFor(schema, rules)) return void setResult([]);
      const others = rules.filter((one: unknown) => one !== KnownOperationTypesRule);
      const errors = validate(schema, document, [...others, rule], options);
      // A stack that is not read holds 70 KB.
      for (const error of errors) error.stack = '';
      if (errors.length === 0)
        documents.add(prepareDocument(document, schema, rules, introspection));
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
