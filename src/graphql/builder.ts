import SchemaBuilder from '@pothos/core';
import type { GatewayContext } from './context.ts';

/** The Pothos builder. Every entity adds its types and fields to it. */
export const builder = new SchemaBuilder<{
  Context: GatewayContext;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: never; Output: string };
    JSON: { Input: never; Output: unknown };
  };
}>({});
