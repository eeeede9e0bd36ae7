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
    return [name, isHidden ? '***' : text.replace(/^(\w+:\/\/)?.*@/s, '$1***@'), source];
  });
  const unknown = unknownVariables(read).map((name) => [name, '', 'unknown, ignored']);
  return [...rows, ...unknown];
}

/** The variables that most gateways set. */
const main =
  /^(?:PORT|HOST|PETSTORE_BASE_URL|MESSAGES_BASE_URL|DATABASE_URL|NODE_ENV|CORS_ORIGINS|LOG_LEVEL)$/;

/** Describes all variables, or one, for `help variables`, or briefly the main ones, for `--help`. */
export function describeVariables(isBrief = false, only?: string): string {
  return documentedVariables()
    .filter(([name]) => (isBrief ? main.test(name) : name === (only ?? name)))
    .map(([name, { fallback, accepts, meaning }]) => {
      const otherwise = typeof fallback === 'string' ? ` [${fallback}]` : '';
      const details = isBrief ? '' : `      accepts ${accepts}\n`;
      return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n${details}`;
    })
    .join('');
}
