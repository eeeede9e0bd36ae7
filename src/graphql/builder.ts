import type SchemaBuilder from '@pothos/core';
import type { GatewayContext } from './context.ts';

/** A Pothos builder with what the pet store needs. Every entity adds its types and fields to it. */
export type PetStoreBuilder = InstanceType<
  typeof SchemaBuilder<{
    Context: GatewayContext;
    Scalars: {
      ID: { Input: string; Output: string };
      DateTime: { Input: never; Output: string };
      JSON: { Input: never; Output: unknown };
    };
  }>
>;
