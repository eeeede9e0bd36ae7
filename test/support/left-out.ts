import type { TestProject } from 'vitest/node';
import { parts } from '../parts.ts';

/** Global setup of the test run: `npm test` prints at its end what it leaves out. */
export function setup({ vitest }: TestProject) {
  if (!vitest.config.project.includes('product')) return undefined;
  const lines = Object.entries(parts).map(
    ([name, about]) => `  npm run dev -- ${`test:${name}`.padEnd(15)}  ${about}`,
  );
  const text = `npm test leaves out, and npm run dev -- test:all includes:\n${lines.join('\n')}\n`;
  return () => process.stdout.write(text);
}
