import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The number of requests so far, and the Authorization header of the last one. */
export interface UpstreamStats {
  readonly requests: number;
  readonly authorization: string;
}

/** The REST service that the measured servers call. */
export interface Upstream extends AsyncDisposable {
  /** Its base address, `/v1` included. */
  readonly url: string;
  stats(): Promise<UpstreamStats>;
}

/** Starts the REST service in its own process, on the core of the caller. */
export async function startUpstream(): Promise<Upstream> {
  const child = fork(fileURLToPath(new URL('upstream-server.ts', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async stats() {
      child.send('stats');
      const [stats] = (await once(child, 'message')) as [UpstreamStats];
      return stats;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
