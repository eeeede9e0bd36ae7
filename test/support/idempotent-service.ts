import type { ServerResponse } from 'node:http';
import { type SeenRequest, sendJson, startUpstream } from './upstream.ts';

/** What the service does with a request that it has received, instead of only carrying it out. */
export interface Handling {
  /** Closes the connection and does nothing. */
  readonly drop?: boolean;
  /** Waits before it carries out the write. */
  readonly until?: Promise<unknown>;
  /** What it does when it has carried out the write, instead of responding. */
  readonly respond?: ((response: ServerResponse) => void) | undefined;
}

/**
 * Starts a REST service that honours `Idempotency-Key` as the draft defines, per API key: the same response
 * again, 409 while the first request is in flight, and 422 with another body. It counts what it has done.
 */
export async function startIdempotentService(
  handle: (request: SeenRequest, attempt: number) => Handling = () => ({}),
) {
  const pets: { id: number; name: string; categoryId: number }[] = [];
  const writes = new Map<string, { body: string; text?: string }>();
  const refuse = (response: ServerResponse, status: number) =>
    sendJson(response, status, JSON.stringify({ code: 'idempotency', message: 'No.', status }));
  const attempts = new Map<string, number>();

  async function respond(request: SeenRequest, response: ServerResponse): Promise<void> {
    const { method, headers, body } = request;
    if (method === 'GET') return sendJson(response, 200, JSON.stringify(pets));
    if (method !== 'POST') return refuse(response, 404);
    const { authorization, 'idempotency-key': key } = headers;
    const attempt = (attempts.get(body) ?? 0) + 1;
    attempts.set(body, attempt);
    const { drop, until, respond: other } = handle(request, attempt);
    if (drop) return void response.destroy();
    const name = `${authorization} ${key}`;
    const known = key === undefined ? undefined : writes.get(name);
    if (known !== undefined && known.body !== body) return refuse(response, 422);
    if (known !== undefined && known.text === undefined) return refuse(response, 409);
    const write: { body: string; text?: string } = known ?? { body };
    if (known === undefined) {
      if (key !== undefined) writes.set(name, write);
      await until;
      const pet = { id: pets.length + 1, ...JSON.parse(body) };
      pets.push(pet);
      write.text = JSON.stringify(pet);
    }
    if (other) other(response);
    else sendJson(response, 201, write.text ?? '');
  }

  const upstream = await startUpstream((request, response) => void respond(request, response));
  return { ...upstream, pets };
}
