import {
  type DocumentNode,
  GraphQLDeferDirective,
  type GraphQLSchema,
  GraphQLStreamDirective,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Deprecation } from './result-types.ts';

/** The directives of incremental delivery. The schema of a host may have `@stream`. */
const incremental = [GraphQLDeferDirective.name, GraphQLStreamDirective.name];

/** Examines the document of one operation in one walk, whatever its variables skip. */
export function examineOperation(schema: GraphQLSchema, document: DocumentNode) {
  const found = new Map<string, Deprecation>();
  let isIntrospection = false;
  const typeInfo = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(typeInfo, {
    Field({ name }) {
      isIntrospection ||= /^__(?:schema|type)$/.test(name.value);
      const field = typeInfo.getFieldDef();
      const { removal, replacement } = field?.extensions ?? {};
      if (typeof removal !== 'string' || typeof replacement !== 'string') return;
      const coordinate = `${typeInfo.getParentType()?.name}.${field?.name}`;
      found.set(coordinate, { field: coordinate, removal, replacement });
    },
    Directive: ({ name }) => (incremental.includes(name.value) ? null : undefined),
  });
  return {
    /** The document without its `@defer` and `@stream`; the same if it has none. */
    whole: visit(document, visitor),
    /** The deprecated fields, each once. */
    deprecations: [...found.values()],
    /** Whether it has introspection fields, which take milliseconds. */
    isIntrospection,
  };
}
