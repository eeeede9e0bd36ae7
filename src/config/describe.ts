import type { Config } from './config.ts';
import { type Environment, readFiles, textOf, unknownVariables } from './environment.ts';
import { documentedVariables } from './variables.ts';

/** Returns the name, effective value and source of every variable, for `--print-config`. */
export function configRows(
  env: Environment,
  { backend, adminHost, graphiql, introspection, explain, workers }: Config,
): string[][] {
  const onOrOff = (isOn: boolean) => (isOn ? 'on' : 'off');
  const effective: Environment = {
    PETSTORE_ENVIRONMENT: backend.kind === 'rest' ? backend.environment : undefined,
    DEMO: onOrOff(backend.kind === 'builtin' && backend.demoKey !== undefined),
    GRAPHIQL: onOrOff(graphiql),
    INTROSPECTION: onOrOff(introspection),
    EXPLAIN: onOrOff(explain),
    WORKERS: String(workers),
    ADMIN_HOST: adminHost,
  };
  const read = readFiles(env, []);
  const rows = documentedVariables().map(([name, { fallback, isSecret, accepts }]) => {
    const given = textOf(read, name);
    const isInFile = given !== undefined && given !== textOf(env, name);
    if (isInFile && isSecret) return [name, '***', 'file'];
    const text = effective[name] ?? (given || fallback || '');
    const source = isInFile ? 'file' : given ? 'environment' : text === '' ? 'unset' : 'default';
    // A URL may be shown without its credentials.
    const isHidden = given && isSecret && !accepts.includes('://');
    return [name, isHidden ? '***' : text.replace(/^(\w+:\/\/)?.*@/, '$1***@'), source];
  });
  const unknown = unknownVariables(read).map((name) => [name, '', 'unknown, ignored']);
  return [...rows, ...unknown];
}

/** Describes every variable, for `--help`. */
export function describeVariables(): string {
  return documentedVariables()
    .map(([name, { fallback, accepts, meaning }]) => {
      const otherwise = fallback === undefined ? '' : ` [${fallback}]`;
      return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n      accepts ${accepts}\n`;
    })
    .join('');
}
