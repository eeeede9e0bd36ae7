#!/usr/bin/env node
import { Argument, Command, CommanderError, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { type AdministrativeWork, administer } from './commands/administer.ts';
import * as keys from './commands/keys.ts';
import { serve } from './commands/serve.ts';
import { formatTable } from './commands/table.ts';
import { exportTo, importFrom, progressOn } from './commands/transfer.ts';
import { configRows, describeValue, loadConfig, unknownVariables } from './config.ts';
import { createLog } from './telemetry/log.ts';
import { openLogWriter } from './telemetry/log-writer.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';
import { type Variable, variables } from './variables.ts';

const [, leastNode = ''] = manifest.engines.node.split('>=');
if (Number.parseInt(process.versions.node, 10) < Number(leastNode)) {
  fail(new Error(`Expected Node ${leastNode} or newer, received ${process.version}.`));
}

/**
 * A signal within this many milliseconds of the first is a duplicate: when a terminal or supervisor
 * signals the whole process group, npm forwards the signal that the gateway has already received.
 */
const duplicateSignalMs = process.env['npm_lifecycle_event'] === undefined ? 0 : 500;

const program = new Command('petstore-gateway')
  .description('A GraphQL gateway over the Pet Store REST contract.')
  .version(manifest.version)
  .exitOverride()
  .addHelpText('after', `\nEnvironment variables:\n${describeVariables()}`);

program
  .command('serve', { isDefault: true })
  .description('start the gateway (default command)')
  .option('--print-config', 'print every setting with its source, and exit')
  .action(async ({ printConfig }: { readonly printConfig?: true }) => {
    const config = loadConfig(process.env);
    if (printConfig) {
      const rows = configRows(process.env, config);
      process.stdout.write(formatTable(['VARIABLE', 'VALUE', 'SOURCE'], rows));
      return;
    }
    const workers = config.workers > 1 ? await import('node:cluster') : undefined;
    const metrics = new Metrics();
    // The banner goes to standard output for people, the log to standard error for programs.
    const isShared = workers !== undefined;
    const writer = openLogWriter(2, process.stderr.isTTY, isShared, metrics.logLineDropped);
    process.on('exit', writer.closeNow);
    const log = createLog(config.logLevel, writer);
    const telemetry = { log, metrics, tracing: await openTracing(config.otlpEndpoint, log) };
    const isWorker = workers?.default.isWorker === true;
    const worker = isWorker ? await import('./workers/worker.ts') : undefined;
    const unknown = unknownVariables(process.env);
    if (unknown.length > 0 && !isWorker) {
      log.warn(
        { variables: unknown },
        'ignoring unknown PETSTORE_ variables; check their spelling',
      );
    }
    const service =
      workers && !isWorker
        ? await (await import('./workers/primary.ts')).superviseWorkers(config, telemetry)
        : await serve(
            worker
              ? { ...config, adminPort: undefined, waitForPortRelease: worker.waitForPortRelease }
              : config,
            telemetry,
          );
    const force = new AbortController();
    let isStopping = false;
    let signalledAt: number | undefined;
    const stop = () => {
      if (isStopping) return;
      isStopping = true;
      log.info({ graceMs: config.shutdownGraceMs }, 'shutting down');
      const end = async () => {
        await service.stop(force.signal);
        log.info('shut down');
        process.off('exit', writer.closeNow);
        // process.exit() would block on a write to a log pipe that nobody reads.
        if (!(await writer.close())) process.kill(process.pid, 'SIGKILL');
        process.exit(force.signal.aborted ? 1 : 0);
      };
      end().catch(fail);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // `stop` may already be running: the primary also stops its workers with a message.
        if (signalledAt === undefined) {
          signalledAt = performance.now();
          stop();
        } else if (performance.now() - signalledAt >= duplicateSignalMs) force.abort();
      });
    }
    if (worker) return worker.connectToPrimary(service, metrics, stop);
    process.stdout.off('error', exitOnClosedPipe).on('error', (err) => {
      log.warn({ err }, 'could not write the banner to standard output');
    });
    // Written last, because a supervisor may send a signal as soon as it sees the banner.
    process.stdout.write(`${service.banner}\n`);
  });

const keysCommand = program
  .command('keys')
  .description("manage the built-in backend's accounts and API keys");
administrative(
  keysCommand.command('create-account <name>'),
  'create an account',
  keys.createAccount,
);
administrative(keysCommand.command('accounts'), 'list the accounts', keys.listAccounts);
administrative(
  keysCommand.command('create <account>'),
  'create an API key and print it once',
  keys.createKey,
);
administrative(
  keysCommand.command('list <account>'),
  'list the API keys of an account',
  keys.listKeys,
);
administrative(keysCommand.command('revoke <key-id>'), 'revoke an API key', keys.revokeKey);

administrative(
  program.command('migrate'),
  "migrate the built-in backend's database, without starting the gateway",
  async () => ({ text: 'The database is up to date.\n', json: { upToDate: true } }),
);

const kind = new Argument('<kind>', 'the kind of record').choices(['pets', 'orders']);
administrative(
  program
    .command('import')
    .addArgument(kind)
    .argument('<file>', 'path of the file, or - for standard input'),
  'import records from JSON Lines; if any line is invalid, nothing is imported',
  (administration, kindName, file) =>
    importFrom(administration, kindName, file, process.stdin, progressOn(process.stderr)),
);
administrative(
  program.command('export').addArgument(kind),
  'export all records to standard output as JSON Lines',
  (administration, kindName) => exportTo(administration, kindName, process.stdout),
);

program
  .command('check-service')
  .description('check that a REST service follows the contract')
  .requiredOption('--base-url <url>', 'base URL of the REST service, including /v1')
  .addOption(new Option('--key <key>', 'API key for the service').env('PETSTORE_API_KEY'))
  .option('--messages-base-url <url>', 'base URL of POST /messages; requires --write')
  .option('--write', 'also send POST requests; they add two animals and a message', false)
  .option('--json', 'print JSON', false)
  .addHelpText(
    'after',
    '\nExit codes: 0 if every check passed, 1 if a check failed, 2 if the service could not be checked.',
  )
  .action(async ({ key, baseUrl, messagesBaseUrl, write, json }) => {
    try {
      if (!key) throw new Error('Missing API key: set PETSTORE_API_KEY or pass --key.');
      const { checkService } = await import('./commands/check-service.ts');
      const { output, exitCode } = await checkService({
        apiKey: key,
        baseUrl: readUrl('--base-url', baseUrl),
        messagesBaseUrl: messagesBaseUrl && readUrl('--messages-base-url', messagesBaseUrl),
        write,
        json,
        timeoutMs: 10_000,
      });
      process.stdout.write(output);
      process.exitCode = exitCode;
    } catch (error) {
      fail(error, 2);
    }
  });

process.stdout.on('error', exitOnClosedPipe);

const [word] = process.argv.slice(2);
const names = [...program.commands.map((command) => command.name()), 'help'];
// Commander would report an excess argument of the default command.
if (word !== undefined && /^[^-]/.test(word) && !names.includes(word)) {
  fail(new Error(`Unknown command ${JSON.stringify(word)}. Expected ${names.join(', ')}.`), 2);
}
await program.parseAsync().catch((error: unknown) => fail(error));

/** Configures a command that works on the built-in backend's database. */
function administrative(command: Command, description: string, work: AdministrativeWork): void {
  command
    .description(description)
    .option('--json', 'print the result as JSON')
    .action(async () => {
      const config = loadConfig(process.env);
      const log = createLog(config.logLevel, process.stderr);
      const outcome = await administer(config, log, work, command.processedArgs);
      if (outcome === undefined) return;
      const { text, json } = outcome;
      process.stdout.write(command.opts()['json'] ? `${JSON.stringify(json)}\n` : text);
    });
}

/** Exits when the reader of a pipe closes it, as `head` does. */
function exitOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

/** Prints the error and exits: with 2 for an invalid command line, otherwise with `exitCode`. */
function fail(error: unknown, exitCode = 1): void {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  const { message, stack } = namingHost(error as NodeJS.ErrnoException);
  const wantsStack = /^(?:debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '');
  process.stderr.write(`${wantsStack ? stack : message}\n`);
  process.exit(exitCode);
}

/** Adds the variable's name to an error about HOST; the system error contains only the address. */
function namingHost(error: NodeJS.ErrnoException): Error {
  const host = process.env['HOST'];
  const isHost = /^(?:EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(error.code ?? '');
  if (!host || !isHost || !error.message.includes(host)) return error;
  return new Error(`HOST: expected an address of this machine, received ${host}: ${error.message}`);
}

function readUrl(option: string, text: string): URL {
  const { parse, accepts } = variables.PETSTORE_BASE_URL;
  const url = parse(text);
  if (url === undefined)
    throw new Error(`${option}: expected ${accepts}, received ${describeValue(text)}.`);
  return url;
}

function describeVariables(): string {
  return Object.entries<Variable>(variables)
    .map(([name, { fallback, accepts, meaning }]) => {
      const otherwise = fallback === undefined ? '' : ` [${fallback}]`;
      return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n      accepts ${accepts}\n`;
    })
    .join('');
}
