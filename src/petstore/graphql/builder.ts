import type SchemaBuilder from '@pothos/core';
import type { PetStoreContext } from './calls.ts';

/** A Pothos builder with what the pet store needs. Every entity adds its types and fields to it. */
export type PetStoreBuilder = InstanceType<
  typeof SchemaBuilder<{
    Context: PetStoreContext;
    Scalars: {
      ID: { Input: string; Output: string };
      DateTime: { Input: never; Output: string };
      JSON: { Input: never; Output: unknown };
    };
  }>
>;
