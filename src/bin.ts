#!/usr/bin/env node
import manifest from '../package.json' with { type: 'json' };

const [, leastNode = ''] = manifest.engines.node.split('>=');
if (Number.parseInt(process.versions.node, 10) < Number(leastNode)) {
  const advice = 'Install it, or put `npx --yes -p node@26` before the command.';
  process.stderr.write(
    `Expected Node ${leastNode} or newer, received ${process.version}. ${advice}\n`,
  );
  process.exit(1);
}
// An older Node fails to load the other modules.
await import('./main.ts');
