/** A request of a check: a POST when it has a body. */
export interface Question {
  /** Left out, the request carries no `Authorization` header. */
  readonly apiKey?: string;
  /** Sent as it is. */
  readonly body?: string;
  /** Of the body; `null` sends no `Content-Type`. */
  readonly contentType?: string | null;
}

/** How a request may lack a key that the service takes: an id, in words, and on the wire. */
export const refusedKeys = [
  { id: 'no-key', words: 'without a key', question: {} },
  { id: 'wrong-key', words: 'with a wrong key', question: { apiKey: 'not-a-key-of-this-service' } },
] as const satisfies readonly { question: Question; [name: string]: unknown }[];

/** The answer, its body whole. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Sends one request, below a base address. @throws NoAnswer */
export type Ask = (path: string, question: Question) => Promise<Reply>;

/** The service sent no answer, or not all of it. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The gateway refuses a larger body, in bytes. */
const maxBodyBytes = 8 * 1024 * 1024;

/** Asks the service at `baseUrl`; an answer has `timeoutMs` to be whole. Redirects are not followed. */
export function createAsk(baseUrl: URL, timeoutMs: number): Ask {
  const prefix = baseUrl.href.replace(/\/+$/, '');
  return async (path, question) => {
    const { body } = question;
    try {
      const response = await fetch(prefix + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: headersOf(question),
        // As bytes: of a string, fetch would tell a type unasked.
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, headers: response.headers, body: await readBody(response) };
    } catch (error) {
      throw new NoAnswer(reasonOf(error, timeoutMs), { cause: error });
    }
  };
}

function headersOf({ apiKey, body, contentType = 'application/json' }: Question) {
  return {
    accept: 'application/json',
    // As the gateway asks; it refuses an encoded body.
    'accept-encoding': 'identity',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(body === undefined || contentType === null ? {} : { 'content-type': contentType }),
  };
}

async function readBody({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw new Error('the body is larger than 8 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return `no whole answer within ${timeoutMs} ms`;
  const { code, message: reason } = (cause ?? {}) as NodeJS.ErrnoException;
  return `no whole answer: ${code ?? reason ?? message}`;
}
