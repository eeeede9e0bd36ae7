import { readFileSync } from 'node:fs';

/**
 * Compares the lists of CONTRIBUTING.md, section "Dependencies", with the dependencies of each
 * `package.json`. @returns a sentence for each difference.
 */
export function compareDependencies(contributing: string, ...packages: string[]): string[] {
  const [, section = ''] = contributing.split(/^## Dependencies$/m);
  const [lists = ''] = section.split(/^## /m);
  const listed = [...lists.matchAll(/^- (`[^:]+`):/gm)].flatMap(([, names = '']) =>
    names.split(', ').map((name) => name.slice(1, -1)),
  );
  const installed = packages.flatMap((text) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(text);
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  return [
    ...installed
      .filter((name) => !listed.includes(name))
      .map((name) => `${name} has no line: say in CONTRIBUTING.md why it is needed, or remove it.`),
    ...listed
      .filter((name, index) => !installed.includes(name) || listed.indexOf(name) < index)
      .map((name) => `${name} has a line too many in CONTRIBUTING.md.`),
  ];
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const differences = compareDependencies(
    read('CONTRIBUTING.md'),
    read('package.json'),
    read('test/checks/package.json'),
  );
  if (differences.length > 0) {
    process.stderr.write(`${differences.join('\n')}\n`);
    process.exitCode = 1;
  }
}
