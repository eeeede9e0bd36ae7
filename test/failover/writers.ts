import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** The pause of a client after a failed write, in milliseconds. */
const pauseMs = 50;

/** A completed write. */
export interface Write {
  readonly name: string;
  /** The acknowledged id, or undefined if the write failed. */
  readonly id: string | undefined;
  /** The error message, if the write failed. */
  readonly error: string | undefined;
  readonly gateway: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * Starts clients that add pets sequentially, each through one gateway, until they are stopped.
 */
export function startWriters(gateways: readonly string[], clients: number) {
  const dispatcher = new Agent({ connections: clients, bodyTimeout: 60_000 });
  const writes: Write[] = [];
  let stopped = false;

  async function write(client: number): Promise<void> {
    const gateway = gateways[client % gateways.length] ?? '';
    for (let index = 0; !stopped; index++) {
      const name = `writer-${client}-${index}`;
      const startedAt = performance.now();
      const outcome = await send(gateway, name).catch((error: Error) => ({
        id: undefined,
        error: `no response: ${error.message}`,
      }));
      writes.push({ name, gateway, startedAt, endedAt: performance.now(), ...outcome });
      if (outcome.id === undefined) await wait(pauseMs);
    }
  }

  async function send(gateway: string, name: string) {
    const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
    const query =
      'mutation Add($name: String!) { addPet(input: { name: $name, categoryId: 1 }) { id } }';
    const sent = { method: 'POST', headers, body: JSON.stringify({ query, variables: { name } }) };
    const { body } = await request(`${gateway}/graphql`, { dispatcher, ...sent });
    const { data, errors } = (await body.json()) as {
      readonly data?: { readonly addPet: { readonly id: string } | null };
      readonly errors?: readonly { readonly message: string }[];
    };
    return { id: data?.addPet?.id, error: errors?.[0]?.message };
  }

  const running = Promise.all(Array.from({ length: clients }, (_, client) => write(client)));
  return {
    writes,
    async stop(): Promise<void> {
      stopped = true;
      await running;
      await dispatcher.close();
    },
  };
}

/** Compares the acknowledged writes with the database. @returns the differences. */
export function compare(
  writes: readonly Write[],
  stored: readonly { readonly id: string; readonly name: string }[],
): string[] {
  const idsByName = Map.groupBy(stored, ({ name }) => name);
  const problems: string[] = [];
  for (const { name, id, error } of writes) {
    const ids = (idsByName.get(name) ?? []).map((row) => row.id);
    if (ids.length > 1) problems.push(`${name} is stored ${ids.length} times`);
    if (id !== undefined && !ids.includes(id))
      problems.push(`${name} was acknowledged but is lost`);
    if (error?.includes('Nothing was stored') && ids.length > 0) {
      problems.push(`${name} is stored, but its error says that nothing was stored`);
    }
  }
  return problems;
}
