import type { GatewayPlugin } from '@graphql-hive/gateway-runtime';

type Revive = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const keepDigits: Revive = (_key, value, { source }) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? source : value;
const parse = (text: string): unknown => JSON.parse(text, keepDigits as () => unknown);

/** Makes the text of this JSON response one that `JSON.parse` does not round. */
export function exactResponse(response: Response): Response {
  const text = response.text.bind(response);
  response.text = async () => JSON.stringify(parse(await text()));
  return response;
}

/**
 * Reads integers beyond 2^53 as strings of digits, in the bodies of clients and of subgraphs.
 * Hive Gateway and Yoga read both with `JSON.parse`, which rounds them.
 */
export const exactIntegers: GatewayPlugin = {
  onRequestParse({ requestParser, setRequestParser }) {
    if (!requestParser) return;
    setRequestParser((request) => {
      request.json = async () => parse(await request.text());
      return requestParser(request);
    });
  },
  onFetch:
    () =>
    ({ response }) => {
      exactResponse(response);
    },
};
