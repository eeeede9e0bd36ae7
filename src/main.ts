import { Command } from 'commander';
import { serve } from './commands/serve.ts';
import { loadConfig, type Variable, variables } from './config.ts';
import { createLog } from './telemetry/log.ts';

const program = new Command('petstore-gateway')
  .description('A GraphQL gateway over the Pet Store REST contract.')
  .showHelpAfterError()
  .addHelpText('after', `\nEnvironment variables:\n${describeVariables()}`);

program
  .command('serve', { isDefault: true })
  .description('serve GraphQL, and the REST interface with the built-in backend (the default)')
  .action(async () => {
    const config = loadConfig(process.env);
    // The log has a stream of its own: the banner is for people, the log for programs.
    const log = createLog(config.logLevel, process.stderr);
    const service = await serve(config, log);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        service.stop().then(
          () => process.exit(0),
          (error: unknown) => fail(error),
        );
      });
    }
    // Last: whoever waits for the banner may send a signal as soon as it is there.
    process.stdout.write(`${service.banner}\n`);
  });

await program.parseAsync().catch(fail);

function fail(error: unknown): void {
  const { message, stack } = error as Error;
  const wantsStack = /^(?:debug|trace)$/.test(process.env['LOG_LEVEL'] ?? '');
  process.stderr.write(`${wantsStack ? stack : message}\n`);
  process.exit(1);
}

function describeVariables(): string {
  return Object.entries<Variable>(variables)
    .map(([name, { fallback, accepts, meaning }]) => {
      const otherwise = fallback === undefined ? '' : ` [${fallback}]`;
      return `  ${name}${otherwise}\n      ${meaning.replaceAll('`', '')}\n      accepts ${accepts}\n`;
    })
    .join('');
}
