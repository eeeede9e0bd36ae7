import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Config, loadConfig, requireTls, warnAtStart } from '../config/config.ts';
import { configRows } from '../config/describe.ts';
import { type Environment, readFiles } from '../config/environment.ts';
import { openApp } from '../gateway.ts';
import { listenAdmin } from '../http/admin.ts';
import { connectionLimit, listen, removeStaleSocket, unixSocketOf } from '../http/listen.ts';
import { openOverloadGuard } from '../request/admission.ts';
import { openRateLimit } from '../request/rate-limit.ts';
import { createEnvironment } from '../request/scope.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { openLogWriter } from '../telemetry/log-writer.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { openTracing } from '../telemetry/tracing.ts';
import { readTlsFiles } from '../tls-files.ts';
import { createV1 } from '../v1/routes.ts';
import { banner } from './banner.ts';
import { commandLine } from './command-line.ts';
import { exitOnFailedOutput } from './exit.ts';
import { createReload, reloadOnHangup } from './reload.ts';
import { formatTable } from './table.ts';

/** Runs the gateway until SIGTERM or SIGINT; a second one ends the wait for requests in flight. */
export async function runServe(
  env: Environment,
  { printConfig }: { readonly printConfig?: true },
): Promise<void> {
  const config = loadConfig(env);
  requireTls(config);
  if (printConfig) {
    process.stdout.write(formatTable(['VARIABLE', 'VALUE', 'SOURCE'], configRows(env, config)));
    return;
  }
  const stop = Promise.withResolvers<void>();
  const force = new AbortController();
  // Process 1 of a container receives only the signals that it handles, also while it starts.
  onSignals(env, stop.resolve, () => force.abort());
  process.on('SIGHUP', () => {});
  const cluster = config.workers > 1 ? (await import('node:cluster')).default : undefined;
  const worker = cluster?.isWorker ? await import('../workers/worker.ts') : undefined;
  const metrics = new Metrics();
  // The banner goes to standard output for people, the log to standard error for programs.
  const isShared = cluster !== undefined;
  const onDrop = () => metrics.droppedLogLines.inc();
  const writer = openLogWriter(2, process.stderr.isTTY, isShared, onDrop);
  process.on('exit', writer.closeNow);
  const log = createLog(config.logLevel, writer);
  // OpenTelemetry reads these variables from the environment of the process.
  for (const [name, text] of Object.entries(readFiles(env, []))) {
    const isRead = /^OTEL_(?:SERVICE|RESOURCE|EXPORTER_OTLP_(?!.*ENDPOINT))/.test(name);
    if (isRead) Object.assign(env, { [name]: text });
  }
  const telemetry = { log, metrics, tracing: await openTracing(config.tracesUrl, log, config) };
  if (!worker) warnAtStart(config, log);
  if (!worker) connectionLimit(log);
  if (!worker) await removeStaleSocket(config.host);
  const supervisor = cluster?.isPrimary
    ? new (await import('../workers/primary.ts')).Supervisor(config, telemetry)
    : undefined;
  worker?.shareMetrics(metrics);
  // The primary serves the admin port of all.
  const adminPort = worker ? undefined : config.adminPort;
  const starting = supervisor?.start() ?? serve({ ...config, adminPort }, telemetry);
  // The primary ends when its terminal is closed, and then its workers.
  const onClosed = worker ? () => {} : stop.resolve;
  reloadOnHangup(env, log, createReload(env, starting, log, metrics), onClosed);
  const service = await Promise.race([starting, stop.promise]);
  const running = service ?? supervisor;
  // Nothing is in flight before it listens. One of several workers may listen already.
  if (!running) process.exit(0);
  if (service && worker) worker.connectToPrimary(service, stop.resolve);
  else if (service) void banner(service, config).then((text) => printBanner(text, log));
  await stop.promise;
  log.info({ graceMs: config.shutdownGraceMs }, 'shutting down');
  await running.stop(force.signal);
  log.info({}, 'shut down');
  process.off('exit', writer.closeNow);
  // process.exit() would block on a write to a log pipe that nobody reads.
  if (!(await writer.close())) process.kill(process.pid, 'SIGKILL');
  process.exit(force.signal.aborted ? 1 : 0);
}

/** Ignores a signal that npm repeats, because the whole process group has already received it. */
function onSignals(env: Environment, first: () => void, again: () => void): void {
  const duplicateMs = env['npm_lifecycle_event'] === undefined ? 0 : 500;
  let signalledAt: number | undefined;
  const receive = () => {
    if (signalledAt === undefined) {
      signalledAt = performance.now();
      first();
    } else if (performance.now() - signalledAt >= duplicateMs) again();
  };
  process.on('SIGTERM', receive).on('SIGINT', receive);
}

/** Prints the banner last, because a supervisor may send a signal as soon as it sees it. */
function printBanner(text: string, log: Log): void {
  process.stdout.off('error', exitOnFailedOutput).on('error', (err) => {
    log.warn({ err }, 'could not write the banner to standard output');
  });
  process.stdout.write(`${text}\n`);
}

/** Describes what to change; the system error contains only the address. */
function describeListenError(
  error: NodeJS.ErrnoException,
  { host, port, adminHost, adminPort = 0 }: Config,
): Error {
  const { code = '', message } = error;
  const path = unixSocketOf(host)?.path;
  if (path !== undefined && message.includes(path)) {
    const folder = dirname(path);
    const problem = !existsSync(folder)
      ? `a path in a folder that exists, received ${path}`
      : code === 'EINVAL'
        ? `a shorter path: a socket's has at most 107 bytes, or 103 on macOS; received ${Buffer.byteLength(path)}`
        : `a path in a writable folder, where no other process listens: ${message}`;
    return new Error(`HOST: expected ${problem}`, { cause: error });
  }
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const [name, used] = message.endsWith(`:${port}`) ? ['PORT', port] : ['ADMIN_PORT', adminPort];
    const problem = code === 'EACCES' ? 'needs privileges' : 'is already in use';
    const other = used < 1024 || used === 65_535 ? 8080 : used + 1;
    const start = `Start the gateway with another port: ${name}=${other} ${commandLine()}`;
    return new Error(`${name}: port ${used} ${problem}. ${start}`, { cause: error });
  }
  const isAddress = /^(?:EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(code);
  const [name, address] = message.includes(host) ? ['HOST', host] : ['ADMIN_HOST', adminHost];
  if (!isAddress || !message.includes(address)) return error;
  return new Error(`${name}: expected an address of this machine, received ${address}: ${message}`);
}

function tlsOf({ tlsCertFile, tlsKeyFile }: Config) {
  if (tlsCertFile === undefined) return undefined;
  return readTlsFiles('TLS', { certFile: tlsCertFile, keyFile: tlsKeyFile });
}

/** Opens the backend and starts listening. @throws if the backend or a port is not available. */
export async function serve(options: Config, telemetry: Telemetry) {
  const { metrics } = telemetry;
  const environment = createEnvironment(telemetry);
  const { keys } = environment;
  const opened = new AsyncDisposableStack();
  opened.use(telemetry.tracing);
  try {
    const rateLimit = opened.use(await openRateLimit(options, keys, telemetry));
    const admission = opened.use(openOverloadGuard(options, keys, metrics));
    let isDraining = false;
    const given = { environment, admission, rateLimit, createV1 };
    const app = opened.use(await openApp({ ...options, ...given, isDraining: () => isDraining }));
    const tls = tlsOf(options);
    const admin = await listenAdmin(app, metrics, app.health, options);
    opened.defer(() => admin?.close(0));
    // Last: once it listens, requests are in flight that a failed start would drop.
    const listener = await listen(app, { ...options, tls, metrics });
    opened.defer(() => listener.close(0));
    return {
      url: listener.url,
      adminUrl: admin?.url,
      checkReady: app.checkReady,
      /** Reads files again and puts them into effect. Rejects, and changes nothing, if one is invalid. */
      async reload(next: Config) {
        const certificate = tlsOf(next);
        await app.reload(next);
        if (certificate) listener.setCertificate(certificate);
        if (rateLimit && next.rateLimitPerKey) rateLimit.rate.perSecond = next.rateLimitPerKey;
      },
      /** Stops listening, finishes requests in flight and closes the backend; `force` ends the wait. */
      async stop(force: AbortSignal) {
        isDraining = true;
        const forced = once(force, 'abort');
        const grace = wait(options.shutdownGraceMs, undefined, { ref: false });
        await Promise.race([listener.close(options.shutdownGraceMs), forced]);
        // The rest of the grace period is for writes whose clients disconnected, and for traces.
        await Promise.race([opened.disposeAsync(), grace, forced]);
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw describeListenError(error as NodeJS.ErrnoException, options);
  }
}
