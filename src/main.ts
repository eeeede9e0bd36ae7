#!/usr/bin/env node
import { Argument, Command, CommanderError, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { type AdministrativeWork, administer } from './commands/administer.ts';
import * as keys from './commands/keys.ts';
import { serve } from './commands/serve.ts';
import { formatTable } from './commands/table.ts';
import { exportTo, importFrom, progressOn } from './commands/transfer.ts';
import { configRows, loadConfig, unknownVariables } from './config.ts';
import { createLog, openLogWriter } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';
import { type Variable, variables } from './variables.ts';

const [, leastNode = ''] = manifest.engines.node.split('>=');
if (Number.parseInt(process.versions.node, 10) < Number(leastNode)) {
  fail(new Error(`Expected Node ${leastNode} or newer, received ${process.version}.`));
}

/**
 * How long after the first signal another one is the same, in milliseconds. npm passes each on to
 * the gateway, which has had it already from a terminal or a supervisor that signals the group.
 */
const echoMs = process.env['npm_lifecycle_event'] === undefined ? 0 : 500;

const program = new Command('petstore-gateway')
  .description('A GraphQL gateway over the Pet Store REST contract.')
  .version(manifest.version)
  .exitOverride()
  .addHelpText('after', `\nEnvironment variables:\n${describeVariables()}`);

program
  .command('serve', { isDefault: true })
  .description('serve GraphQL, and the REST interface with the built-in backend (the default)')
  .option('--print-config', 'show every setting and where it is from, and end')
  .action(async ({ printConfig }: { readonly printConfig?: true }) => {
    const config = loadConfig(process.env);
    if (printConfig) {
      const rows = configRows(process.env, config);
      process.stdout.write(formatTable(['VARIABLE', 'VALUE', 'FROM'], rows));
      return;
    }
    const workers = config.workers > 1 ? await import('node:cluster') : undefined;
    // The log has a stream of its own: the banner is for people, the log for programs.
    const writer = openLogWriter(2, process.stderr.isTTY, workers !== undefined);
    process.on('exit', () => writer.closeNow());
    const metrics = new Metrics();
    const log = createLog(config.logLevel, writer);
    const telemetry = {
      log,
      metrics,
      tracing: await openTracing(config.otlpEndpoint, log),
    };
    const isWorker = workers?.default.isWorker === true;
    const unknown = unknownVariables(process.env);
    if (unknown.length > 0 && !isWorker) {
      log.warn({ variables: unknown }, 'unknown variables are not read; misspelt?');
    }
    const service =
      workers && !isWorker
        ? await (await import('./workers/primary.ts')).superviseWorkers(config, telemetry)
        : await serve(isWorker ? { ...config, adminPort: undefined } : config, telemetry);
    const hurry = new AbortController();
    let isStopping = false;
    let signalledAt: number | undefined;
    const stop = () => {
      if (isStopping) return;
      isStopping = true;
      log.info({ graceMs: config.shutdownGraceMs }, 'shutting down');
      const end = async () => {
        await service.stop(hurry.signal);
        log.info('shut down');
        // A write that its reader leaves lying would hold up any gentler end.
        if (!(await writer.close())) process.kill(process.pid, 'SIGKILL');
        process.exit(hurry.signal.aborted ? 1 : 0);
      };
      end().catch(fail);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // A worker that its primary has stopped may get its own first signal after that.
        if (signalledAt === undefined) {
          signalledAt = performance.now();
          stop();
        } else if (performance.now() - signalledAt >= echoMs) hurry.abort();
      });
    }
    if (isWorker) {
      const { obeyPrimary } = await import('./workers/worker.ts');
      return obeyPrimary(service, metrics, stop);
    }
    process.stdout.off('error', endAfterReader).on('error', (err) => {
      log.warn({ err }, 'the banner could not be written to standard output');
    });
    // Last: whoever waits for the banner may send a signal as soon as it is there.
    process.stdout.write(`${service.banner}\n`);
  });

const keysCommand = program
  .command('keys')
  .description("manage the accounts and API keys of the built-in backend's database");
administrative(
  keysCommand.command('create-account <name>'),
  'create an account',
  keys.createAccount,
);
administrative(keysCommand.command('accounts'), 'list the accounts', keys.listAccounts);
administrative(
  keysCommand.command('create <account>'),
  'make a key and show it once',
  keys.createKey,
);
administrative(keysCommand.command('list <account>'), 'list the keys of an account', keys.listKeys);
administrative(keysCommand.command('revoke <key-id>'), 'revoke a key', keys.revokeKey);

administrative(
  program.command('migrate'),
  "bring the built-in backend's database up to date, without serving",
  async () => ({ text: 'The database is up to date.\n', json: { upToDate: true } }),
);

const kind = new Argument('<kind>', 'what the lines hold').choices(['pets', 'orders']);
administrative(
  program.command('import').addArgument(kind).argument('<file>', 'a file, or - for standard input'),
  'import records as JSON Lines: all of them, or none when a line is bad',
  (administration, kindName, file) =>
    importFrom(administration, kindName, file, process.stdin, progressOn(process.stderr)),
);
administrative(
  program.command('export').addArgument(kind),
  'write all records to standard output as JSON Lines',
  (administration, kindName) => exportTo(administration, kindName, process.stdout),
);

program
  .command('check-service')
  .description('tell whether a REST service keeps the contract, before traffic goes there')
  .requiredOption('--base-url <url>', 'the REST service, /v1 included')
  .addOption(new Option('--key <key>', 'an API key of the service').env('PETSTORE_API_KEY'))
  .option('--messages-base-url <url>', 'where POST /messages lives; checked with --write only')
  .option('--write', 'send POST requests too: adds two animals, and a message', false)
  .option('--json', 'print JSON', false)
  .addHelpText(
    'after',
    '\nExit codes: 0 the contract is kept, 1 it is broken, 2 nothing could be checked.',
  )
  .action(async ({ key, baseUrl, messagesBaseUrl, write, json }) => {
    try {
      if (!key)
        throw new Error('Expected an API key of the service: set PETSTORE_API_KEY, or give --key.');
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

process.stdout.on('error', endAfterReader);

const [word] = process.argv.slice(2);
const names = [...program.commands.map((command) => command.name()), 'help'];
// Without this it would be an argument too many of the default command.
if (word !== undefined && /^[^-]/.test(word) && !names.includes(word)) {
  fail(new Error(`Unknown command ${JSON.stringify(word)}. Expected ${names.join(', ')}.`), 2);
}
await program.parseAsync().catch((error: unknown) => fail(error));

/** Makes a command of something that is done to the built-in backend's database. */
function administrative(command: Command, description: string, work: AdministrativeWork): void {
  command
    .description(description)
    .option('--json', 'print the outcome as JSON')
    .action(async () => {
      const config = loadConfig(process.env);
      const log = createLog(config.logLevel, process.stderr);
      const outcome = await administer(config, log, work, command.processedArgs);
      if (outcome === undefined) return;
      const { text, json } = outcome;
      process.stdout.write(command.opts()['json'] ? `${JSON.stringify(json)}\n` : text);
    });
}

/** Ends a command whose reader has read enough, as head does. */
function endAfterReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}

/** Ends the process: 2 for a command line that can't be understood, else 1 unless told otherwise. */
function fail(error: unknown, exitCode = 1): void {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  const { message, stack } = namingHost(error as NodeJS.ErrnoException);
  const wantsStack = /^(?:debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '');
  process.stderr.write(`${wantsStack ? stack : message}\n`);
  process.exit(exitCode);
}

/** A failure to listen at HOST says so: the system names the address only. */
function namingHost(error: NodeJS.ErrnoException): Error {
  const host = process.env['HOST'];
  const isHost = /^(?:EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(error.code ?? '');
  if (!host || !isHost || !error.message.includes(host)) return error;
  return new Error(`HOST: expected an address of this machine, found ${host}: ${error.message}`);
}

function readUrl(option: string, text: string): URL {
  const { parse, accepts } = variables.PETSTORE_BASE_URL;
  const url = parse(text);
  if (url === undefined) throw new Error(`${option}: expected ${accepts}.`);
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
