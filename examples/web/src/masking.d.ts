import type { GraphQLCodegenDataMasking } from '@apollo/client/masking';

// A component can read only the fields of its own fragment: codegen masks the types, and `dataMasking`
// in client.ts masks the data.
declare module '@apollo/client' {
  export interface TypeOverrides extends GraphQLCodegenDataMasking.TypeOverrides {}
}
