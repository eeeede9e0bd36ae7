import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { operations } from '../src/contract/pet-store.ts';
import { petFields } from '../src/contract/records.ts';

/** The parts of an OpenAPI document that declare operations and animals. */
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId?: string }>>>>;
  readonly components: {
    readonly schemas: {
      readonly NewPet: { readonly properties: object; readonly required: readonly string[] };
    };
  };
}

/** Lists what only the OpenAPI document declares, or only the code: operations, and animals' fields. */
export function undeclared({ paths, components }: OpenApi): string[] {
  const { NewPet } = components.schemas;
  const documented = [
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId }]) =>
        operationId ? [`${operationId}: ${method.toUpperCase()} ${path}`] : [],
      ),
    ),
    ...Object.keys(NewPet.properties).map((name) => lineOf(name, NewPet.required.includes(name))),
  ];
  const declared = [
    ...Object.entries(operations).map(([id, { method, path }]) => `${id}: ${method} ${path}`),
    ...Object.values(petFields)
      .filter(({ name }) => name !== 'id')
      .map(({ name, isRequired }) => lineOf(name, isRequired)),
  ];
  return [...new Set(documented).symmetricDifference(new Set(declared))];
}

function lineOf(name: string, isRequired: boolean): string {
  return `${isRequired ? 'required' : 'optional'} field ${name} of an animal`;
}

if (import.meta.main) {
  const text = readFileSync(new URL('openapi.yaml', import.meta.url), 'utf8');
  const lines = undeclared(parse(text)).map((line) => `- ${line}\n`);
  if (lines.length > 0) {
    process.stderr.write(
      `Only one of schema/openapi.yaml and src/contract declares:\n${lines.join('')}`,
    );
    process.exitCode = 1;
  }
}
