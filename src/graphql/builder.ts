import SchemaBuilder from '@pothos/core';
import type { GatewayContext } from './context.ts';

/** The Pothos builder that every entity adds its types and fields to; it holds none itself. */
export const builder = new SchemaBuilder<{
  Context: GatewayContext;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: never; Output: string };
    JSON: { Input: never; Output: unknown };
  };
}>({});
