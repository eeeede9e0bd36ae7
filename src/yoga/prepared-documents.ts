import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  separateOperations,
  TokenKind,
  type ValidationRule,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { conditionsOf, maxConditions } from '../execution/field-collector.ts';
import type { InputChecks } from '../graphql/invalid-input.ts';
import { operationCosts } from './operation-limits.ts';
import { type PreparedOperation, prepareOperation } from './prepared-operation.ts';

/**
 * Upper bounds of the memory of a document, in bytes, from heap measurements. A field is one that an
 * operation has with fragments expanded, in one variant of compiled code.
 */
const bytes = { document: 2048, character: 2, node: 1024, comment: 256, field: 128 };

/** A parsed and validated document with its operations. */
export type PreparedDocument = ReturnType<typeof prepareDocument>;

/** Prepares a valid document, for this schema. @param rules those that it was validated with */
export function prepareDocument(
  document: DocumentNode,
  schema: GraphQLSchema,
  rules: readonly ValidationRule[],
  introspection: boolean | 'keys',
  checks: InputChecks,
) {
  /** By the name of each operation: a document of it and the fragments that it uses. */
  const documents = separateOperations(document);
  const operations = new Map<string | undefined, PreparedOperation>();
  return {
    document,
    schema,
    /** The names of its operations; an empty one if it has no name. */
    operationNames: Object.keys(documents),
    /** Whether it was validated with this schema and these rules. */
    isValidFor(givenSchema: GraphQLSchema, givenRules: readonly ValidationRule[]): boolean {
      const isSame = givenSchema === schema && givenRules.length === rules.length;
      return isSame && givenRules.every((rule, index) => rule === rules[index]);
    },
    /** Returns the operation of this name, or without a name the only one, if there is one. */
    find(operationName: string | undefined): PreparedOperation | undefined {
      const known = operations.get(operationName);
      if (known !== undefined) return known;
      const definition = getOperationAST(document, operationName);
      if (!definition) return undefined;
      const own = documents[definition.name?.value ?? ''] ?? document;
      const operation = prepareOperation(definition, own, schema, introspection, checks);
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

/**
 * Opens the caches of the documents that were executed, by their text, with their memory including
 * compiled code, in bytes; one document may take a quarter. Callers whose key the backend has not accepted
 * have one of their own, so that they cannot evict others.
 */
export function openDocuments() {
  const open = (maxSize: number) =>
    new LRUCache<string, PreparedDocument>({
      maxSize,
      maxEntrySize: maxSize / 4,
      sizeCalculation: estimateBytes,
    });
  return { accepted: open(32 * 1024 * 1024), others: open(512 * 1024) };
}
