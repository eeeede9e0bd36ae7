import type { GraphQLCodegenDataMasking } from '@apollo/client/masking';

// A component sees the fields of its own fragment only: in the types as codegen writes them, and at
// run time through `dataMasking` in client.ts.
declare module '@apollo/client' {
  export interface TypeOverrides extends GraphQLCodegenDataMasking.TypeOverrides {}
}
