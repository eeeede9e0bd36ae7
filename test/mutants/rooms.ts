import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { MutatedFile } from './mutant.ts';

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.yaml'));

/** The mutants of each room of the product, by its name. */
export const rooms: Readonly<Record<string, readonly MutatedFile[]>> = Object.fromEntries(
  files.toSorted().map((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    return [file.replace('.yaml', ''), parse(text)];
  }),
);
