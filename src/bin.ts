#!/usr/bin/env node
await import('./node-version.ts').catch(({ message }: Error) => {
  const advice = 'Install it, or put `npx --yes -p node@26` before the command.';
  process.stderr.write(`${message} ${advice}\n`);
  process.exit(1);
});
// An older Node fails to load the other modules.
await import('./main.ts');
