import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readCpuMs } from './cores.ts';

/** What the REST service has seen so far: how many requests, and the last one's credential. */
export interface Seen {
  readonly requests: number;
  readonly authorization: string;
}

/** The REST service behind the servers that are measured. */
export interface Upstream extends AsyncDisposable {
  /** Its base address, `/v1` included. */
  readonly url: string;
  seen(): Promise<Seen>;
  /** The processor time that it has used so far, in milliseconds. */
  cpuMs(): number;
}

/** Starts the REST service in a process of its own, on the core of the caller. */
export async function startUpstream(): Promise<Upstream> {
  const child = fork(fileURLToPath(new URL('upstream-server.ts', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async seen() {
      child.send('seen');
      const [seen] = (await once(child, 'message')) as [Seen];
      return seen;
    },
    cpuMs: () => readCpuMs(child.pid ?? 'self').own,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
