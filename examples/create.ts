import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const names = globSync('*/package.json', { cwd: import.meta.dirname })
  .map(dirname)
  .toSorted();

const usage = `Usage: npm run example -- NAME FOLDER
Copies an example to a new folder, and installs its packages and Node there.
The examples: ${names.join(', ')}
`;

function create(name: string, folder: string): void {
  if (existsSync(folder)) throw new Error(`FOLDER: expected a new folder, received ${folder}.`);
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  const filter = (path: string) => !/[\\/](?:node_modules|dist|data|\.next)$/.test(path);
  cpSync(join(import.meta.dirname, name), folder, { recursive: true, filter });
  const file = join(folder, 'package.json');
  const project = JSON.parse(readFileSync(file, 'utf8'));
  const { version, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [packed, path] of [
    ['petstore-gateway', '.'],
    ['petstore-gateway-client', './packages/client'],
  ] as const) {
    for (const list of [project.dependencies, project.devDependencies]) {
      if (list?.[packed] === undefined) continue;
      list[packed] = `file:${packed}-${version}.tgz`;
      process.stdout.write(`Packing ${packed}\n`);
      npm(root, 'pack', path, '--silent', '--pack-destination', folder);
    }
  }
  // The Node of this checkout, which the machine need not have.
  project.devDependencies = { ...project.devDependencies, node: devDependencies.node };
  project.allowScripts = { ...project.allowScripts, node: true };
  writeFileSync(file, `${JSON.stringify(project, undefined, 2)}\n`);
  process.stdout.write('Installing the packages\n');
  npm(folder, 'install', '--silent');
  const start = project.scripts.dev ? 'npm run dev' : 'npm start';
  process.stdout.write(`Created ${folder}. Next:\n  cd ${relative('', folder)}\n  ${start}\n`);
}

const [name = '', path = ''] = process.argv.slice(2);
if (!names.includes(name) || path === '') {
  if (name) process.stderr.write(`NAME: expected one of the examples, received ${name}.\n`);
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  try {
    create(name, resolve(process.env['INIT_CWD'] ?? '', path));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
