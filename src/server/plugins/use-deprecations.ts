import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestRecord } from '../../telemetry/request-record.ts';

/** A deprecated field that an operation uses, as `extensions.deprecations` tells it. */
export interface Deprecation {
  /** Its schema coordinate, such as `Query.pet`. */
  readonly field: string;
  /** The date of its removal, such as `2030-12-05`. */
  readonly removal: string;
  readonly replacement: string;
}

/**
 * Tells a client that its operation uses a field that will go: in `extensions.deprecations` and in
 * the headers `Sunset` (RFC 8594) and `Link`. The metric counts who still does.
 */
export function useDeprecations(): Plugin<{ readonly record: RequestRecord }> {
  const known = new WeakMap<DocumentNode, readonly Deprecation[]>();
  return {
    onExecute({ args: { schema, document, contextValue } }) {
      let deprecations = known.get(document);
      if (deprecations === undefined) {
        deprecations = deprecationsOf(schema, document);
        known.set(document, deprecations);
      }
      if (deprecations.length === 0) return;
      const found = deprecations;
      return {
        onExecuteDone({ result, setResult }) {
          setResult(tellDeprecations(result as ExecutionResult, found, contextValue.record));
        },
      };
    },
  };
}

/** The result with what it should tell of deprecated fields, which are noted in the record. */
export function tellDeprecations(
  { extensions, ...rest }: ExecutionResult,
  deprecations: readonly Deprecation[],
  record: RequestRecord,
): ExecutionResult {
  record.deprecatedFields = deprecations.map(({ field }) => field);
  const headers = {
    sunset: new Date(deprecations[0]?.removal ?? '').toUTCString(),
    link: '</graphql>; rel="successor-version"',
  };
  return { ...rest, extensions: { ...extensions, deprecations, http: { headers } } };
}

/** The deprecated fields that a document uses, each once. */
export function deprecationsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
): readonly Deprecation[] {
  const found = new Map<string, Deprecation>();
  const typeInfo = new TypeInfo(schema);
  const noteField = () => {
    const field = typeInfo.getFieldDef();
    const removal = field?.extensions['removal'];
    const replacement = field?.extensions['replacement'];
    if (typeof removal !== 'string' || typeof replacement !== 'string') return;
    const coordinate = `${typeInfo.getParentType()?.name}.${field?.name}`;
    found.set(coordinate, { field: coordinate, removal, replacement });
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field: noteField }));
  return [...found.values()];
}
