import { defaultOf, type Environment, readFiles, textOf, unknownVariables } from './environment.ts';
import type { Variable } from './variable.ts';
import { documentedVariables } from './variables.ts';

/** Returns the name, effective value and source of every variable, for `--print-config`. */
export function configRows(env: Environment, config: { readonly workers: number }): string[][] {
  const read = readFiles(env, []);
  const rows = documentedVariables().map(([name, { isSecret, accepts }]) => {
    const given = textOf(read, name);
    const isInFile = given !== undefined && given !== textOf(env, name);
    if (isInFile && isSecret) return [name, '***', 'file'];
    // WORKERS may be `auto`.
    const text = name === 'WORKERS' ? String(config.workers) : given || defaultOf(read, name) || '';
    const source = isInFile ? 'file' : given ? 'environment' : text === '' ? 'unset' : 'default';
    // A URL may be shown without its credentials.
    const isHidden = given && isSecret && !accepts.includes('://');
    return [name, isHidden ? '***' : text.replace(/^(\w+:\/\/)?.*@/, '$1***@'), source];
  });
  const unknown = unknownVariables(read).map((name) => [name, '', 'unknown, ignored']);
  return [...rows, ...unknown];
}

/** The variables that most gateways set. */
const mainVariables =
  /^(?:PORT|HOST|PETSTORE_BASE_URL|MESSAGES_BASE_URL|DATABASE_URL|NODE_ENV|CORS_ORIGINS|LOG_LEVEL)$/;

/** The groups of `help variables`. A variable belongs to the first that matches. */
const groups: Readonly<Record<string, RegExp>> = {
  graphql: /^(?:GRAPHIQL|INTROSPECTION|EXPLAIN|PERSISTED_|MAX_(?!REQ|EV))/,
  limits: /^(?:MAX|RATE)_/,
  observability: /^(?:LOG|ADMIN|OTEL)_/,
  backend: /^(?:PETSTORE|MESSAGES|DATABASE|UPSTREAM|COALESCE|FORWARD)_|_PROXY$/,
  server: /^/,
};

/** The names of the groups. */
export const variableGroups = Object.keys(groups);

/** Describes the main variables briefly, for `--help`. */
export function describeMainVariables(): string {
  const main = documentedVariables().filter(([name]) => mainVariables.test(name));
  return main.map((entry) => describeVariable(entry)).join('');
}

/** Describes the variables of a group, or of each one. */
export function describeVariables(only?: string): string {
  const groupOf = ([name]: [string, Variable]) =>
    variableGroups.find((group) => groups[group]?.test(name)) ?? '';
  return [...Map.groupBy(documentedVariables(), groupOf)]
    .filter(([group]) => only === undefined || group === only)
    .map(([group, entries]) => {
      const details = entries.map((entry) => {
        return `${describeVariable(entry)}      accepts ${entry[1].accepts}\n`;
      });
      return `${group}:\n${details.join('')}`;
    })
    .join('\n');
}

function describeVariable([name, { fallback, meaning }]: [string, Variable]): string {
  const otherwise = typeof fallback === 'string' ? ` [${fallback}]` : '';
  return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n`;
}
