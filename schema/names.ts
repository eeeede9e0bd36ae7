import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lines of the engine that may name what only `src/petstore` knows, with the reason. */
const exceptions: Readonly<Record<string, readonly [lines: number, reason: string]>> = {
  'src/cli/check-service.ts': [4, 'the option with the address of messages'],
  'src/config/backend-variables.ts': [5, 'the variables of the services'],
  'src/config/describe.ts': [1, 'the variables that come first'],
  'src/main.ts': [1, 'the option with the address of messages'],
};

/** The name of the product, of its metrics and of its variables. */
const product = /\bPETSTORE_\w*|\bpetstore[-_]\w+|\bpet[- ]?stores?\b|\w*petStore\w*/gi;

const words =
  /\b(?:pets?|orders|petId|categoryId|(?:list|create|get|add)(?:Pets?|Orders)|sendMessage|messagesBaseUrl|MESSAGES_BASE_URL)\b|messages-base|\/messages|quickstart|'messages'/i;

/** Within a name: `AddPetInput`, `petFields`. */
const parts = /[a-z]Pets?(?![a-z])|\b[Pp]ets?[A-Z]/;

/** Returns the lines of a text, with their numbers, that name a pet, an order or a message of the contract. */
export function namesIn(text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const rest = line.replace(product, '');
    return words.test(rest) || parts.test(rest) ? [`${index + 1}: ${line.trim()}`] : [];
  });
}

/** Returns a sentence for each file of the engine with another number of such lines than it may have. */
export function findNames(root: string): string[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    (file) => !/^src.petstore/.test(file),
  );
  return files.toSorted().flatMap((file) => {
    const lines = namesIn(readFileSync(join(root, file), 'utf8'));
    const [allowed] = exceptions[file] ?? [0];
    if (lines.length === allowed) return [];
    const found = lines.map((line) => `\n  ${line}`).join('');
    return `${file} has ${lines.length} lines that name the pet store's records, expected ${allowed}: move them to src/petstore, or change schema/names.ts.${found}`;
  });
}

if (import.meta.main) {
  const problems = findNames(join(import.meta.dirname, '..'));
  if (problems.length > 0) {
    process.stderr.write(`${problems.join('\n')}\n`);
    process.exitCode = 1;
  }
}
