import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const older = `delete Map.groupBy;
  Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });
  Object.defineProperty(process, 'version', { value: 'v20.20.2' });`;
const preload = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];

it('reports the required Node version on an older Node, which cannot load the other modules', async () => {
  const started = promisify(execFile)('node', [...preload, 'src/bin.ts', '--version']);
  await expect(started).rejects.toMatchObject({
    code: 1,
    stderr:
      'Expected Node 24 or newer, received v20.20.2. Install it, or put `npx --yes -p node@26` before the command.\n',
  });
});

it.each(['index', 'schema'])('reports it from src/%s.ts too', async (entry) => {
  const started = promisify(execFile)('node', [...preload, `src/${entry}.ts`]);
  await expect(started).rejects.toMatchObject({
    stderr: expect.stringContaining('Error: Expected Node 24 or newer, received v20.20.2.\n'),
  });
});

it('prints its version on a newer Node', async () => {
  const { stdout } = await promisify(execFile)('node', ['src/bin.ts', '--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+(?:-dev)?\n$/);
});
