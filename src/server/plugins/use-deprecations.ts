import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../../telemetry/metrics.ts';

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
export function useDeprecations(metrics: Pick<Metrics, 'deprecatedUse'>): Plugin {
  const known = new WeakMap<DocumentNode, readonly Deprecation[]>();
  return {
    onExecute({ args: { schema, document, operationName } }) {
      let uses = known.get(document);
      if (uses === undefined) {
        uses = deprecationsOf(schema, document);
        known.set(document, uses);
      }
      const [first] = uses;
      if (first === undefined) return;
      const name = getOperationAST(document, operationName)?.name?.value;
      for (const { field } of uses) metrics.deprecatedUse(field, name);
      const deprecations = uses;
      const headers = {
        sunset: new Date(first.removal).toUTCString(),
        link: '</graphql>; rel="successor-version"',
      };
      return {
        onExecuteDone({ result, setResult }) {
          const { extensions, ...rest } = result as ExecutionResult;
          setResult({ ...rest, extensions: { ...extensions, deprecations, http: { headers } } });
        },
      };
    },
  };
}

function deprecationsOf(schema: GraphQLSchema, document: DocumentNode): readonly Deprecation[] {
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
