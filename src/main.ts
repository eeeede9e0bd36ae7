import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { closestMatch } from 'leven';
import manifest from '../package.json' with { type: 'json' };
import { type AdministrativeCommand, administer, printResult } from './cli/administer.ts';
import { exitOnFailedOutput, fail } from './cli/exit.ts';
import { keyCommands } from './cli/keys.ts';
import { runServe } from './cli/serve.ts';
import { backUpTo, exportTo, importFrom, recordKinds } from './cli/transfer.ts';
import { describeVariables } from './config/describe.ts';
import { documentedVariables } from './config/variables.ts';

process.stdout.on('error', exitOnFailedOutput);

/** What words mean whose spelling is not close to that of a command. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['start', 'serve'],
  ['add', 'create'],
  ['delete', 'revoke'],
]);

const program = new Command('petstore-gateway')
  .description('A GraphQL gateway over the Pet Store REST contract.')
  .version(manifest.version)
  .showHelpAfterError('--help lists the commands and options.')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .configureOutput({
    outputError(text, write) {
      const [, word = ''] = /^error: unknown command '(.*)'\n$/.exec(text) ?? [];
      const meant = synonyms.get(word);
      if (meant) return write(`${text}(Did you mean ${meant}?)\n`);
      const [, option = '', given] = /unknown option '--([^'=]+)=?(.*)'/.exec(text) ?? [];
      const value = given || (process.argv[process.argv.indexOf(`--${option}`) + 1] ?? '…');
      const name = option.replaceAll('-', '_').toUpperCase();
      const isVariable = documentedVariables().some(([variable]) => variable === name);
      write(isVariable ? `${text}Set the variable instead: ${name}=${value}\n` : text);
    },
  })
  .addHelpText(
    'after',
    `\nEnvironment variables, of which \`help variables\` lists all:\n${describeVariables(true)}`,
  );

program
  .command('variables')
  .description('describe the environment variables')
  .argument('[name]', 'one variable')
  .action((name: string | undefined, _options, command: Command) => {
    const names = documentedVariables().map(([variable]) => variable);
    const upper = name?.toUpperCase();
    if (!upper || names.includes(upper)) {
      process.stdout.write(describeVariables(false, upper));
      return;
    }
    const meant = closestMatch(upper, names, { maxDistance: 2 });
    command.error(`error: unknown variable ${upper}${meant ? ` (did you mean ${meant}?)` : ''}`);
  });

program
  .command('serve')
  .description('start the gateway (default command)')
  .option('--print-config', 'print every setting with its source, and exit')
  .action((options) => runServe(process.env, options));

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseDuration(text: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (unitMs[unit] ?? 0);
  throw new InvalidArgumentError('Expected minutes, hours or days, such as 30m, 24h or 90d.');
}

/** Adds a command that works on the built-in backend's database, with its options as last argument. */
function administrative(
  command: Command,
  { description, options = [], ...rest }: Omit<AdministrativeCommand, 'usage'>,
): void {
  command.description(description).option('--json', 'print the result as JSON');
  for (const [flags, meaning] of options) {
    command.option<unknown>(flags, meaning, flags.endsWith('<duration>') ? parseDuration : String);
  }
  command.action(() => {
    const given = command.opts();
    return administer(process.env, rest, [...command.processedArgs, given], given);
  });
}

const keys = program
  .command('keys')
  .description("manage the built-in backend's accounts and API keys");
for (const command of keyCommands) administrative(keys.command(command.usage), command);

administrative(program.command('migrate'), {
  description: "migrate the built-in backend's database, without starting the gateway",
  creates: true,
  // Opening the database has migrated it.
  work: async () => ({ text: 'The database is up to date.\n', json: { upToDate: true } }),
});

const kind = new Argument('<kind>', 'the kind of record').choices(recordKinds);
administrative(
  program
    .command('import')
    .addArgument(kind)
    .argument('<file>', 'path of the file, or - for standard input'),
  {
    description: 'import records from JSON Lines; if any line is invalid, nothing is imported',
    creates: true,
    work: importFrom,
  },
);
administrative(program.command('export').addArgument(kind), {
  description: 'export all records to standard output as JSON Lines',
  work: exportTo,
});

program
  .command('backup')
  .description("back up the built-in backend's SQLite database while gateways serve")
  .argument('<file>', 'path of a new file')
  .option('--json', 'print the result as JSON')
  .action(async (file, options) => printResult(await backUpTo(process.env, file), options));

program
  .command('check-service')
  .description('check that a REST service follows the contract')
  .requiredOption('--base-url <url>', 'base URL of the REST service, including /v1')
  .addOption(new Option('--key <key>', 'API key for the service').env('PETSTORE_API_KEY'))
  .option('--messages-base-url <url>', 'base URL of POST /messages; requires --write')
  .option('--write', 'also send requests that write; they add a few records', false)
  .option('--idempotency', 'with --write, also check that Idempotency-Key is honoured', false)
  .option('--json', 'print JSON', false)
  .addHelpText(
    'after',
    '\nExit codes: 0 if every check passed, 1 if a check failed, 2 if the service could not be checked.',
  )
  .action(async (options) => {
    const { runCheckService } = await import('./cli/check-service.ts');
    await runCheckService(options).catch((error) => fail(process.env, error, 2));
  });

/**
 * Returns `keys create --help` for `help keys create`, and for a name that is unknown the words up to it, which
 * are refused with what was meant.
 */
function wordsOfHelp(names: readonly string[]): string[] {
  if (names[0] === 'variables') return [...names];
  let command: Command = program;
  for (const [index, name] of names.entries()) {
    if (command.commands.length === 0) break;
    const found = command.commands.find((one) => one.name() === name);
    if (!found) return names.slice(0, index + 1);
    command = found;
  }
  return [...names, '--help'];
}

let words = process.argv.slice(2);
if (words[0] === 'help') words = wordsOfHelp(words.slice(1));
// Commander would take a misspelled command for an argument of its default command.
if (!/^(?:[^-]|-h$|--help$|-V$|--version$)/.test(words[0] ?? '')) words.unshift('serve');
await program
  .parseAsync(words, { from: 'user' })
  .catch((error: unknown) => fail(process.env, error));
