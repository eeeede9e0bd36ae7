import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type AppOptions, openApp } from '../app.ts';
import { createAdmin } from '../server/admin.ts';
import { createByteLimits } from '../server/byte-limits.ts';
import { type ListenOptions, listen } from '../server/listener/listen.ts';
import { type OverloadLimits, openOverloadGuard } from '../server/overload.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createV1 } from '../v1/routes.ts';
import { banner } from './banner.ts';

/** Options of `serve`. */
export interface ServeOptions extends AppOptions, OverloadLimits, ListenOptions {
  /** Accept only requests with a loopback Host. */
  readonly onlyLoopbackHosts: boolean;
  /** A separate port for `/metrics`, `/livez` and `/readyz`. */
  readonly adminPort: number | undefined;
  /** Time that requests in flight have to finish after `stop`, in milliseconds. */
  readonly shutdownGraceMs: number;
}

/** A running gateway. */
export interface Service {
  /** The base address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** The startup message for people. */
  readonly banner: string;
  /** Rejects with the reason if the backend is not available. */
  checkReady(): Promise<void>;
  /** Stops listening, finishes requests in flight and closes the backend; `force` ends the wait. */
  stop(force: AbortSignal): Promise<void>;
}

/** Opens the backend and starts listening. @throws if the backend or a port is not available. */
export async function serve(options: ServeOptions, telemetry: Telemetry): Promise<Service> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, telemetry, opened);
  } catch (error) {
    await opened.disposeAsync();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    const advice =
      'Stop the process that uses it, or set PORT or ADMIN_PORT to another port; 0 picks a free one.';
    throw new Error(`${message}. ${advice}`, { cause: error });
  }
}

async function open(
  options: ServeOptions,
  telemetry: Telemetry,
  opened: AsyncDisposableStack,
): Promise<Service> {
  const { host, adminPort, onlyLoopbackHosts, shutdownGraceMs } = options;
  const { metrics } = telemetry;
  opened.use(telemetry.tracing);
  let isDraining = false;
  const admission = opened.use(openOverloadGuard(options, metrics));
  const context = {
    telemetry,
    admission,
    isDraining: () => isDraining,
    onlyLoopbackHosts,
    createV1,
  };
  const app = opened.use(await openApp(options, context));
  const limits = createByteLimits(metrics);
  const listener = await listen(app.handle, limits, options);
  opened.defer(() => listener.close(0));
  let adminUrl: string | undefined;
  if (adminPort !== undefined) {
    const { url, close } = await listen(createAdmin(metrics, app.health), limits, {
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
    async stop(force) {
      isDraining = true;
      const forced = once(force, 'abort');
      const grace = wait(shutdownGraceMs, undefined, { ref: false });
      await Promise.race([listener.close(shutdownGraceMs), forced]);
      // The rest of the grace period is for writes whose clients disconnected, and for traces.
      await Promise.race([opened.disposeAsync(), grace, forced]);
    },
  };
}
