import { apiKey } from './gateway.ts';

/** Sends a request with an API key, or without one. */
export async function send(url: string, authorization = `Bearer ${apiKey}`, path = '/v1/pets') {
  const headers: Record<string, string> = authorization === '' ? {} : { authorization };
  const response = await fetch(`${url}${path}`, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Sends requests one after the other, and returns how many were served. */
export async function served(url: string, count: number, authorization?: string): Promise<number> {
  let number = 0;
  for (let sent = 0; sent < count; sent++) {
    const { status } = await send(url, authorization);
    if (status !== 429) number++;
  }
  return number;
}
