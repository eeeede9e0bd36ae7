import { readFileSync } from 'node:fs';
// Not by name: Node 20 lacks `getSystemErrorMessage`, and has to reach the check of its version.
import util, { parseEnv } from 'node:util';
import { closestMatch } from 'leven';
import type { Variable } from './variable.ts';
import { documentedVariables, variables } from './variables.ts';

/** An environment such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the text of a variable. Proxies are usually set in lower case, which precedes. */
export function textOf(env: Environment, name: string): string | undefined {
  return (name.endsWith('_PROXY') && env[name.toLowerCase()]) || env[name];
}

/** Returns the default of a variable in an environment, as text. */
export function defaultOf(env: Environment, name: string): string | undefined {
  const { fallback } = (variables as Readonly<Record<string, Variable>>)[name] ?? {};
  if (typeof fallback !== 'function') return fallback;
  return fallback((other) => textOf(env, other) || defaultOf(env, other) || '');
}

/** Adds what `CONFIG_FILE` and the files of secrets contain. No problem repeats their content. */
export function readFiles(given: Environment, problems: string[]): Environment {
  const env = { ...readConfigFile(given['CONFIG_FILE'], problems) };
  for (const [name, text] of Object.entries(given)) if (text) env[name] = text;
  const read: Record<string, string> = {};
  for (const [name, { isSecret }] of Object.entries<Variable>(variables)) {
    const file = isSecret && env[`${name}_FILE`];
    if (!file) continue;
    const problem = (text: string) => problems.push(`${name}_FILE: expected ${text}`);
    if (env[name]) problem(`no value, because ${name} is set too; received ${file}`);
    try {
      read[name] = readText(file).replace(/[\r\n]+$/, '');
      if (read[name] === '') problem(`a file that contains ${name}, found nothing in ${file}`);
    } catch (error) {
      problem(`a file that contains ${name}, in ${file}, found: ${reasonOf(error as Error)}`);
    }
  }
  return { ...env, ...read };
}

/** Reads a file, without a byte order mark. */
function readText(file: string): string {
  return new TextDecoder().decode(readFileSync(file));
}

function reasonOf({ errno, message }: NodeJS.ErrnoException): string {
  return errno === undefined ? message : util.getSystemErrorMessage(errno);
}

/** A line of a file of variables. `\s` would match characters that Node takes for a part of the name. */
const fileLine = /^[ \t]*(?:(?:#|(?:export )?[ \t]*(\w+)[ \t]*=)[^\r]*)?\r?$/;

function readConfigFile(file: string | undefined, problems: string[]): NodeJS.Dict<string> {
  if (!file) return {};
  try {
    const text = readText(file);
    const variables = parseEnv(text);
    // Node ignores other lines, and takes some for a part of the value before them.
    const invalid = text.split('\n').findIndex((line) => {
      const [match, name] = fileLine.exec(line) ?? [];
      return match === undefined || (name !== undefined && !(name in variables));
    });
    const isCut = /[^\n]$/.test(text);
    if (invalid < 0 && !isCut) return variables;
    const expected = invalid < 0 ? 'a line break at the end' : `NAME=VALUE in line ${invalid + 1}`;
    problems.push(`CONFIG_FILE: expected ${expected} of ${file}`);
  } catch (error) {
    problems.push(
      `CONFIG_FILE: expected a file of variables in ${file}, found: ${reasonOf(error as Error)}`,
    );
  }
  return {};
}

/** Lists the variables whose values differ, if they take effect only at the next start. */
export function needRestart(started: Environment, now: Environment): string[] {
  const changed = documentedVariables().filter(([name, { isReloaded }]) => {
    const [before, after] = [textOf(started, name), textOf(now, name)];
    const turns = /^(?:TLS|RATE)_/.test(name) && !before !== !after;
    return before !== after && (!isReloaded || turns);
  });
  return changed.map(([name]) => name);
}

/** Lists probable misspellings, and other `PETSTORE_`, `TLS_` and `OTEL_` names without effect. */
export function unknownVariables(env: Environment): string[] {
  // check-service reads PETSTORE_API_KEY.
  const known = [...documentedVariables().map(([name]) => name), 'PETSTORE_API_KEY'];
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.includes(name) || ofOthers.test(name)) return [];
    // HOST is too short for a guess, and FTP_PROXY is not a misspelled HTTP_PROXY.
    const candidates = known.filter((one) => one.length > 4 && one[0] === name[0]);
    const maxDistance = Math.min(2, Math.floor(name.length / 3));
    const isFile = known.includes(`${name}_FILE`);
    const meant = isFile ? `${name}_FILE` : closestMatch(name, candidates, { maxDistance });
    if (meant) return `${name} (did you mean ${meant}?)`;
    return /^(?:PETSTORE|TLS|OTEL)_/i.test(name) ? name : [];
  });
}

/** Variables of Kubernetes, Docker links and OpenTelemetry that have an effect elsewhere. */
const ofOthers =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?$|^OTEL_(?:SERVICE_NAME|(?:.*_)?(?:METRICS?|LOGS?|BLRP)_.*|EXPORTER_OTLP_(?:TRACES_)?(?:HEADERS|TIMEOUT|COMPRESSION|CERTIFICATE|CLIENT_(?:CERTIFICATE|KEY)))$/;

/** Quotes an invalid value for an error message, unless it may contain a password or a key. */
export function describeValue(text: string, isSecret = false): string {
  const isHidden = isSecret || (/[@?#%\p{Cc}]/u.test(text) && !/^unix:/.test(text));
  const [flaw] = /\p{Cc}|%(?![\da-f]{2})/iu.exec(text) ?? [];
  const unencoded = flaw ? `, with an unencoded ${JSON.stringify(flaw)}` : '';
  if (isHidden) return `a value that is hidden because it may contain a credential${unencoded}`;
  if (!/^(?:tcp|udp|sctp):\/\/[\da-f.:[\]]+$/.test(text)) return JSON.stringify(text);
  return `"${text}", a service link of Kubernetes: set enableServiceLinks: false in the pod`;
}
