import { basename } from 'node:path';

/** Returns the line that runs a command, such as `keys accounts`, as this one was called: in a clone, with npm. */
export function commandLine(words = ''): string {
  const path = process.argv[1] ?? '';
  if (path.endsWith('.ts')) return words ? words.replace(/^\S+/, 'npm run $& --') : 'npm start';
  const npx = /node_modules.\.bin/.test(path) ? 'npx ' : '';
  const name = 'petstore-gateway';
  return `${basename(path) === name ? npx + name : `node ${path}`} ${words}`.trim();
}
