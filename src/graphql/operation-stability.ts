import type { OperationStability } from './stability.ts';

/** What `schema/openapi.yaml` says of its operations; written by `npm run codegen`. */
export const operationStability: OperationStability = {};
