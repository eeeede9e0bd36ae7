import { type DocumentNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { Deprecation } from './result.ts';

/** The deprecated fields that a document uses, each once. */
export function deprecationsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
): readonly Deprecation[] {
  const found = new Map<string, Deprecation>();
  const typeInfo = new TypeInfo(schema);
  const addField = () => {
    const field = typeInfo.getFieldDef();
    const { removal, replacement } = field?.extensions ?? {};
    if (typeof removal !== 'string' || typeof replacement !== 'string') return;
    const coordinate = `${typeInfo.getParentType()?.name}.${field?.name}`;
    found.set(coordinate, { field: coordinate, removal, replacement });
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field: addField }));
  return [...found.values()];
}
