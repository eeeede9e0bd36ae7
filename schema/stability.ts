import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createSchema } from '../src/graphql/schema.ts';
import type { OperationStability, Stability } from '../src/graphql/stability.ts';

/** As much of an OpenAPI document as tells how stable its operations are. */
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Partial<Operation>>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly 'x-stability': string;
}

/** The marked operations of an OpenAPI document. @throws for a level that the contract does not know. */
export function markedOperations({ paths }: OpenApi): OperationStability {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const stability: Record<string, Stability> = {};
  for (const { operationId = '', 'x-stability': level } of operations) {
    if (level === undefined) continue;
    if (level !== 'experimental' && level !== 'beta') {
      throw new Error(
        `x-stability of ${operationId}: expected experimental or beta, received ${level}.`,
      );
    }
    stability[operationId] = level;
  }
  return stability;
}

const openApi = readFileSync(new URL('openapi.yaml', import.meta.url), 'utf8');
const stability = markedOperations(parse(openApi));

/** The schema as the OpenAPI document marks it now, whatever was generated before: codegen's input. */
export const schema = createSchema(stability);

/** A codegen plugin: the marks as a module, so that the gateway reads no YAML when it starts. */
export function plugin(): string {
  const marks = Object.entries(stability).map(([id, level]) => `  ${id}: '${level}',\n`);
  return `import type { OperationStability } from './stability.ts';

/** What \`schema/openapi.yaml\` says of its operations; written by \`npm run codegen\`. */
export const operationStability: OperationStability = {${marks.length > 0 ? `\n${marks.join('')}` : ''}};
`;
}
