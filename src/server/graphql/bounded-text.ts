import { stringifyJson } from '../../contract/json.ts';
import type { TypedResult } from './typed-result.ts';

/** The most that a response may hold, in characters. */
export const maxResponseLength = 8 * 1024 * 1024;

/**
 * The JSON text of a result. Where it would be too long, the fields at the root that make it so become
 * null, each with an error; what fits before them stays.
 */
export function writeBounded(result: TypedResult, requestId: string): string {
  const text = stringifyJson(result);
  return text.length <= maxResponseLength ? text : stringifyJson(withoutExcess(result, requestId));
}

function withoutExcess(result: TypedResult, requestId: string): TypedResult {
  const data: Record<string, unknown> = {};
  const errors = [...(result.errors ?? [])];
  // Half of the response is left to errors and extensions.
  let left = maxResponseLength / 2;
  for (const [key, value] of Object.entries(result.data ?? {})) {
    const { length } = stringifyJson(value);
    const fits = length <= left;
    data[key] = fits ? value : null;
    if (fits) left -= length;
    else errors.push(tooLarge(key, requestId));
  }
  return { ...result, errors, data };
}

function tooLarge(key: string, requestId: string) {
  return {
    message: `The response is too large: expected at most ${maxResponseLength} characters. Ask for fewer fields at a time.`,
    path: [key],
    extensions: { code: 'RESPONSE_TOO_LARGE', requestId },
  };
}
