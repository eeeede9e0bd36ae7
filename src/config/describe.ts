import type { Config } from './config.ts';
import { type Environment, textOf, unknownVariables } from './environment.ts';
import { type Variable, variables } from './variables.ts';

/** Returns the name, effective value and source of every variable, for `--print-config`. */
export function configRows(
  env: Environment,
  { backend, graphiql, introspection, explain, workers }: Config,
): string[][] {
  const onOrOff = (isOn: boolean) => (isOn ? 'on' : 'off');
  const effective: Environment = {
    PETSTORE_ENVIRONMENT: backend.kind === 'rest' ? backend.environment : undefined,
    DEMO: onOrOff(backend.kind === 'builtin' && backend.demoKey !== undefined),
    GRAPHIQL: onOrOff(graphiql),
    INTROSPECTION: onOrOff(introspection),
    EXPLAIN: onOrOff(explain),
    WORKERS: String(workers),
  };
  const rows = Object.entries<Variable>(variables).map(([name, { fallback, isSecret }]) => {
    const given = textOf(env, name);
    const text = effective[name] ?? (given || fallback || '');
    const source = given ? 'environment' : text === '' ? 'unset' : 'default';
    const shown = isSecret && given ? '***' : text.replace(/^(\w+:\/\/)?.*@/, '$1***@');
    return [name, shown, source];
  });
  const unknown = unknownVariables(env).map((name) => [name, '', 'unknown, ignored']);
  return [...rows, ...unknown];
}

/** Describes every variable, for `--help`. */
export function describeVariables(): string {
  return Object.entries<Variable>(variables)
    .map(([name, { fallback, accepts, meaning }]) => {
      const otherwise = fallback === undefined ? '' : ` [${fallback}]`;
      return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n      accepts ${accepts}\n`;
    })
    .join('');
}
