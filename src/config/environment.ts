import { closestMatch } from 'leven';
import { variables } from './variables.ts';

/** An environment such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the text of a variable. Proxies are usually set in lower case, which precedes. */
export function textOf(env: Environment, name: string): string | undefined {
  return (name.endsWith('_PROXY') && env[name.toLowerCase()]) || env[name];
}

/**
 * Lists the variables that are probably misspelled, such as `LOG_LVL`, with those that were meant,
 * and all `PETSTORE_` ones that the gateway doesn't know, without those that Kubernetes sets for a
 * service named `petstore…`. Leaves out the values, which may be secrets.
 */
export function unknownVariables(env: Environment): string[] {
  // check-service reads PETSTORE_API_KEY.
  const known = [...Object.keys(variables), 'PETSTORE_API_KEY'];
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.includes(name) || kubernetesVariable.test(name)) return [];
    // HOST is too short for a guess, and FTP_PROXY is not a misspelled HTTP_PROXY.
    const candidates = known.filter((one) => one.length > 4 && one[0] === name[0]);
    const maxDistance = Math.min(2, Math.floor(name.length / 3));
    const meant = closestMatch(name, candidates, { maxDistance });
    if (meant) return `${name} (did you mean ${meant}?)`;
    return /^PETSTORE_/i.test(name) ? name : [];
  });
}

/** The variables that Kubernetes and Docker links set for a service. */
const kubernetesVariable =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?$/;

/** Quotes an invalid value for an error message, unless it may contain a password or a key. */
export function describeValue(text: string, isSecret = false): string {
  return isSecret || /[@?#]/.test(text)
    ? 'a value that is hidden because it may contain a credential'
    : JSON.stringify(text);
}
