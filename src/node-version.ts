import manifest from '../package.json' with { type: 'json' };

// Imported first, because an older Node fails in the other modules. Bun and Deno say which Node they resemble.
const [, leastNode = ''] = manifest.engines.node.split('>=');
const { node, bun, deno } = process.versions;
if (!bun && !deno && Number.parseInt(node, 10) < Number(leastNode)) {
  throw new Error(`Expected Node ${leastNode} or newer, received ${process.version}.`);
}
