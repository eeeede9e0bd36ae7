import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type AppOptions, openApp } from '../app.ts';
import { createAdmin } from '../server/admin.ts';
import { listen } from '../server/listener/listen.ts';
import { type OverloadLimits, openOverloadGuard } from '../server/listener/overload.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { banner } from './banner.ts';

/** What the gateway serves and where. */
export interface ServeOptions extends AppOptions, OverloadLimits {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Answer only requests whose Host is this machine. */
  readonly onlyLoopbackHosts: boolean;
  /** A port for `/metrics` and health, apart from the public one. */
  readonly adminPort: number | undefined;
  /** How long requests in flight may finish after `stop`, in milliseconds. */
  readonly shutdownGraceMs: number;
}

/** A running gateway. */
export interface Service {
  /** The base address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** What a person at a terminal wants to see first. */
  readonly banner: string;
  /** Rejects with the reason when the backend can't be expected to answer. */
  checkReady(): Promise<void>;
  /** Stops accepting, finishes what is in flight, then closes the backend; `hurry` cuts all short. */
  stop(hurry: AbortSignal): Promise<void>;
}

/** Opens the backend and serves it. @throws when the backend or an address can't be had. */
export async function serve(options: ServeOptions, telemetry: Telemetry): Promise<Service> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, telemetry, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function open(
  options: ServeOptions,
  telemetry: Telemetry,
  opened: AsyncDisposableStack,
): Promise<Service> {
  const { host, port, adminPort, onlyLoopbackHosts, shutdownGraceMs } = options;
  const { metrics } = telemetry;
  opened.use(telemetry.tracing);
  let isDraining = false;
  const admission = opened.use(openOverloadGuard(options, telemetry));
  const surroundings = { telemetry, admission, isDraining: () => isDraining, onlyLoopbackHosts };
  const app = opened.use(await openApp(options, surroundings));
  const listener = await listen(app.handle, { host, port });
  opened.defer(() => listener.close(0));
  let adminUrl: string | undefined;
  if (adminPort !== undefined) {
    const { url, close } = await listen(createAdmin(metrics, app.health), {
      host,
      port: adminPort,
    });
    opened.defer(() => close(0));
    adminUrl = url;
  }
  return {
    url: listener.url,
    banner: banner(listener.url, adminUrl, options),
    checkReady: app.checkReady,
    async stop(hurry) {
      isDraining = true;
      const hurried = once(hurry, 'abort');
      const grace = wait(shutdownGraceMs, undefined, { ref: false });
      await Promise.race([listener.close(shutdownGraceMs), hurried]);
      // Writes whose clients are gone run to their end, and traces are sent, within the grace.
      await Promise.race([opened.disposeAsync(), grace, hurried]);
    },
  };
}
