import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  separateOperations,
  TokenKind,
  type ValidationRule,
  visit,
} from 'graphql';
import { conditionsOf, maxConditions } from '../execution/field-collector.ts';
import { operationCosts } from './operation-limits.ts';
import { PreparedOperation } from './prepared-operation.ts';

/**
 * Upper bounds of the memory of a document, in bytes, from heap measurements. A field is one that an
 * operation has with fragments expanded, in one variant of compiled code.
 */
const bytes = { document: 2048, character: 2, node: 1024, comment: 256, field: 128 };

/** A parsed and validated document with its operations. */
export class PreparedDocument {
  readonly document: DocumentNode;
  /** The names of its operations; an empty one if it has no name. */
  readonly operationNames: readonly string[];
  readonly #schema: GraphQLSchema;
  readonly #rules: readonly ValidationRule[];
  readonly #introspection: boolean | 'keys';
  /** By the name of each operation: a document of it and the fragments that it uses. */
  readonly #documents: Readonly<Record<string, DocumentNode>>;
  readonly #operations = new Map<string | undefined, PreparedOperation>();

  /** @param rules those that it was validated with */
  constructor(
    document: DocumentNode,
    schema: GraphQLSchema,
    rules: readonly ValidationRule[],
    introspection: boolean | 'keys',
  ) {
    this.document = document;
    this.#schema = schema;
    this.#rules = rules;
    this.#introspection = introspection;
    this.#documents = separateOperations(document);
    this.operationNames = Object.keys(this.#documents);
  }

  /** Whether it was validated with this schema and these rules. */
  isValidFor(schema: GraphQLSchema, rules: readonly ValidationRule[]): boolean {
    const known = this.#rules;
    if (schema !== this.#schema || rules.length !== known.length) return false;
    for (let index = 0; index < rules.length; index++) {
      if (rules[index] !== known[index]) return false;
    }
    return true;
  }

  /**
   * Estimates its memory: its text, its nodes with tokens and locations, its comments, which are
   * tokens too, and the compiled code of all operations.
   */
  estimateBytes(text: string): number {
    const { document } = this;
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

  /** Returns the operation of this name, or without a name the only one, if there is one. */
  find(operationName: string | undefined): PreparedOperation | undefined {
    const known = this.#operations.get(operationName);
    if (known !== undefined) return known;
    const { document } = this;
    const definition = getOperationAST(document, operationName);
    if (!definition) return undefined;
    const own = this.#documents[definition.name?.value ?? ''] ?? document;
    const operation = new PreparedOperation(definition, own, this.#schema, this.#introspection);
    this.#operations.set(operationName, operation);
    return operation;
  }
}
