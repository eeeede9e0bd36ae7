import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Deprecation } from './result-types.ts';

/** Arguments of other types, except for enums, may take text. */
const scalarsWithoutText = /^(?:Int|Boolean)$/;

/**
 * Returns the deprecated fields of a document, each once, and whether any field takes text or an id,
 * which the result may repeat.
 */
export function examineFields(schema: GraphQLSchema, document: DocumentNode) {
  const found = new Map<string, Deprecation>();
  let takesText = false;
  const typeInfo = new TypeInfo(schema);
  const fields = {
    Field() {
      const field = typeInfo.getFieldDef();
      const { removal, replacement } = field?.extensions ?? {};
      if (typeof removal !== 'string' || typeof replacement !== 'string') return;
      const coordinate = `${typeInfo.getParentType()?.name}.${field?.name}`;
      found.set(coordinate, { field: coordinate, removal, replacement });
    },
    Argument() {
      const type = getNamedType(typeInfo.getInputType());
      takesText ||= !isEnumType(type) && !scalarsWithoutText.test(String(type));
    },
  };
  visit(document, visitWithTypeInfo(typeInfo, fields));
  return { deprecations: [...found.values()], takesText };
}
