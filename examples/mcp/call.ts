import type { CallToolResult } from '@modelcontextprotocol/server';
import { type DocumentNode, print } from 'graphql';
import {
  type GatewayError,
  type GatewayErrorCode,
  isGatewayError,
  persistedHash,
} from 'petstore-gateway-client';

const url = process.env['PETSTORE_GATEWAY_URL'] || 'http://127.0.0.1:4000/graphql';

/** What to do about an error, by its code. Only people can repair what has another code. */
const advice: Partial<Record<GatewayErrorCode, string>> = {
  BAD_USER_INPUT: 'Correct the arguments, then call the tool again.',
  UNAUTHENTICATED: 'Ask the user to configure an accepted API key. Do not ask for the key itself.',
  FORBIDDEN: 'The API key does not allow this. Report the error to the user.',
  NOT_FOUND: 'Check the identifier.',
  CONFLICT: 'Read the current state before you decide what to do.',
  RATE_LIMITED: 'Wait, then call the tool again.',
  OVERLOADED: 'Wait, then call the tool again.',
  UPSTREAM_TIMEOUT: 'Call the tool again later.',
  UPSTREAM_UNAVAILABLE: 'Call the tool again later.',
  UPSTREAM_ERROR: 'Call the tool again later.',
  RESPONSE_TOO_LARGE: 'Ask for less, for example with a lower limit.',
};

/** A document to execute, and who asks for it. */
interface Call {
  readonly document: DocumentNode;
  readonly isQuery: boolean;
  readonly variables: unknown;
  readonly authorization: string | null;
  readonly signal: AbortSignal;
}

interface Response {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GatewayError[];
}

/** Executes a document. The result is an error if no root field has data. */
export async function call(request: Call): Promise<CallToolResult> {
  // The reason of a failure is not shown, because it can contain the key or an address.
  const response = await send(request).catch(() => unreachable(request));
  const { data, errors = [] } = response;
  const hasData = Object.entries(data ?? {}).some(
    ([name, value]) => name !== '__typename' && value !== null,
  );
  const texts = [...errors.map(explain), JSON.stringify(response)];
  return {
    content: texts.map((text) => ({ type: 'text', text })),
    structuredContent: { ...response },
    isError: !data || (errors.length > 0 && !hasData),
  };
}

/** Sends the hash of the document, and its text to a gateway that does not know the hash. */
async function send(call: Call): Promise<Response> {
  const response = await post(call, { documentId: persistedHash(call.document) });
  const isUnknown = response.errors?.some((error) =>
    isGatewayError(error, 'PERSISTED_QUERY_NOT_FOUND', 'PERSISTED_QUERY_NOT_SUPPORTED'),
  );
  return isUnknown ? post(call, { query: print(call.document) }) : response;
}

async function post({ variables, authorization, signal }: Call, body: object): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    signal,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      ...(authorization && { authorization }),
    },
    body: JSON.stringify({ ...body, variables }),
  });
  return JSON.parse(await response.text(), exact);
}

/** Keeps the digits in JSON of unknown shape: an integer that a double cannot hold becomes a string. */
function exact(_key: string, value: unknown, context?: { readonly source: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value;
}

/** The error of a gateway that did not respond. A write may have arrived nevertheless. */
function unreachable({ isQuery }: Call): Response {
  const message = 'The gateway did not respond.';
  const outcome = isQuery ? {} : ({ outcome: 'UNKNOWN' } as const);
  return { errors: [{ message, extensions: { code: 'UPSTREAM_UNAVAILABLE', ...outcome } }] };
}

/** Says what happened, what became of a write, and what to do. */
function explain(error: GatewayError): string {
  const { code, outcome } = error.extensions;
  const isBusy = isGatewayError(error, 'RATE_LIMITED', 'OVERLOADED', 'UPSTREAM_UNAVAILABLE');
  const waitMs = isBusy ? error.extensions.retryAfterMs : undefined;
  const next = waitMs
    ? `Wait ${waitMs} ms, then call the tool again.`
    : (advice[code] ?? 'Report the error to the user.');
  const writes = {
    DONE: 'The write was done. Do not call the tool again.',
    UNKNOWN: 'The write may have been done. Check that before you call the tool again.',
    NOT_DONE: `Nothing was written. ${next}`,
  };
  const where = [code, ...(error.path ?? [])].join(' ');
  return `${where}: ${error.message}\n${outcome ? writes[outcome] : next}`;
}
