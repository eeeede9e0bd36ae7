import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { type AdministrativeWork, administer, printOutcome } from './commands/administer.ts';
import { exitOnClosedPipe, fail } from './commands/exit.ts';
import * as keys from './commands/keys.ts';
import { runServe } from './commands/serve.ts';
import { backUpTo, exportTo, importFrom, progressOn } from './commands/transfer.ts';
import { describeVariables } from './config/describe.ts';

process.stdout.on('error', exitOnClosedPipe);

const program = new Command('petstore-gateway')
  .description('A GraphQL gateway over the Pet Store REST contract.')
  .version(manifest.version)
  .exitOverride()
  .addHelpText('after', `\nEnvironment variables:\n${describeVariables()}`);

program
  .command('serve', { isDefault: true })
  .description('start the gateway (default command)')
  .option('--print-config', 'print every setting with its source, and exit')
  .action((options) => runServe(process.env, options));

/** Adds a command that works on the built-in backend's database, with its options as last argument. */
function administrative(
  command: Command,
  description: string,
  work: AdministrativeWork,
  options: readonly Option[] = [],
): void {
  command.description(description).option('--json', 'print the result as JSON');
  for (const option of options) command.addOption(option);
  command.action(() => {
    const given = command.opts();
    return administer(process.env, work, [...command.processedArgs, given], given);
  });
}

function parseDuration(text: string): number {
  const ms = keys.parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('Expected minutes, hours or days, such as 30m, 24h or 90d.');
}
const label = new Option('--label <text>', 'what the key is for');
const expires = new Option('--expires <duration>', 'lifetime, such as 90d; unlimited by default');
const overlap = new Option('--overlap <duration>', 'how long the old key stays valid');

const keysCommand = program
  .command('keys')
  .description("manage the built-in backend's accounts and API keys");
const keyCommands: readonly [string, string, AdministrativeWork, Option[]?][] = [
  ['create-account <name>', 'create an account', keys.createAccount],
  ['accounts', 'list the accounts', keys.listAccounts],
  [
    'create <account>',
    'create an API key and print it once',
    keys.createKey,
    [label, expires.argParser(parseDuration)],
  ],
  ['list <account>', 'list the API keys of an account', keys.listKeys],
  [
    'rotate <key-id>',
    'create an API key with the label and lifetime of another one, which expires',
    keys.rotateKey,
    [overlap.argParser(parseDuration).default(parseDuration('24h'), '24h')],
  ],
  ['revoke <key-id>', 'revoke an API key', keys.revokeKey],
];
for (const [usage, ...rest] of keyCommands) administrative(keysCommand.command(usage), ...rest);

administrative(
  program.command('migrate'),
  "migrate the built-in backend's database, without starting the gateway",
  async (administration, { to }: { readonly to?: string }) => {
    if (to === undefined)
      return { text: 'The database is up to date.\n', json: { upToDate: true } };
    await administration.migrateTo(to);
    return { text: `The database is at the migration ${to}.\n`, json: { migration: to } };
  },
  [new Option('--to <migration>', 'undo the migrations after this one, for an earlier version')],
);

const kind = new Argument('<kind>', 'the kind of record').choices(['pets', 'orders']);
administrative(
  program
    .command('import')
    .addArgument(kind)
    .argument('<file>', 'path of the file, or - for standard input'),
  'import records from JSON Lines; if any line is invalid, nothing is imported',
  (administration, kindName, file) =>
    importFrom(
      administration,
      kindName,
      file,
      process.stdin,
      progressOn(process.stderr, 'records'),
    ),
);
administrative(
  program.command('export').addArgument(kind),
  'export all records to standard output as JSON Lines',
  (administration, kindName) => exportTo(administration, kindName, process.stdout),
);

program
  .command('backup')
  .description("back up the built-in backend's SQLite database while gateways serve")
  .argument('<file>', 'path of a new file')
  .option('--json', 'print the result as JSON')
  .action(async (file, options) =>
    printOutcome(await backUpTo(process.env, file, progressOn(process.stderr, 'MB')), options),
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
  .action(async (options) => {
    const { runCheckService } = await import('./commands/check-service.ts');
    await runCheckService(options).catch((error) => fail(process.env, error, 2));
  });

const [word] = process.argv.slice(2);
const names = [...program.commands.map((command) => command.name()), 'help'];
// Commander would report an excess argument of the default command.
if (word !== undefined && /^[^-]/.test(word) && !names.includes(word)) {
  fail(
    process.env,
    new Error(`Unknown command ${JSON.stringify(word)}. Expected ${names.join(', ')}.`),
    2,
  );
}
await program.parseAsync().catch((error: unknown) => {
  // Commander has printed its own errors, and the help.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  fail(process.env, error);
});
