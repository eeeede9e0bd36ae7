import { defaultOf, type Environment, readFiles, textOf, unknownVariables } from './environment.ts';
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

/** The variables that most gateways set, and the groups of all. */
const groups = {
  main: /^(?:PORT|HOST|PETSTORE_BASE_URL|MESSAGES_BASE_URL|DATABASE_URL|NODE_ENV|CORS_ORIGINS|LOG_LEVEL)$/,
  server: /^(?:CONFIG|PORT|HOST|TLS|COMPRESSION|KEEP|CORS|NODE|DEMO|SHUTDOWN|WORKERS)(?:_|$)/,
  backend: /^(?:PETSTORE|MESSAGES|DATABASE|UPSTREAM|COALESCE|FORWARD|IDEMPOTENCY)_|_PROXY$/,
  graphql: /^(?:GRAPHIQL|INTROSPECTION|EXPLAIN|PERSISTED_|MAX_(?!REQ|EV))/,
  limits: /^(?:RATE_|MAX_(?:REQ|EV))/,
  observability: /^(?:LOG|ADMIN|OTEL)_/,
} as const;

/** Describes the variables of a group, for `help variables`, or all of them if there is no such group. */
export function describeGroups(only: string): string {
  const [, ...names] = Object.keys(groups) as (keyof typeof groups)[];
  return (names.some((name) => name === only) ? [only as keyof typeof groups] : names)
    .map((name) => `${name}:\n${describeVariables(name)}`)
    .join('\n');
}

/** Describes the variables of a group, or briefly the main ones, for `--help`. */
export function describeVariables(group: keyof typeof groups): string {
  return documentedVariables()
    .filter(([name]) => groups[group].test(name))
    .map(([name, { fallback, accepts, meaning }]) => {
      const otherwise = typeof fallback === 'string' ? ` [${fallback}]` : '';
      const details = group === 'main' ? '' : `      accepts ${accepts}\n`;
      return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n${details}`;
    })
    .join('');
}
