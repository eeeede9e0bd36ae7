import { expect, it } from 'vitest';
import { compareDependencies } from '../../docs/dependencies.ts';

const packageJson = JSON.stringify({
  dependencies: { graphql: '17.1.0' },
  devDependencies: { '@types/pg': '8.23.1', vitest: '5.1.1' },
});

it('reports packages without a row, without a reason, without a use, and listed twice', () => {
  const contributing = `# Contributing

| \`elsewhere\` | not in the section |

## Dependencies

| package | purpose |
|---|---|
| \`graphql\` | the language |
| \`graphql\` | the language again |
| \`@types/pg\` | |
| \`left-pad\` | pads |

## Commits

| \`vitest\` | not in the section |
`;
  expect(compareDependencies(contributing, packageJson)).toEqual([
    '@types/pg has no row: say in CONTRIBUTING.md why it is needed, or remove it.',
    'vitest has no row: say in CONTRIBUTING.md why it is needed, or remove it.',
    'graphql has a row too many in CONTRIBUTING.md.',
    'left-pad has a row too many in CONTRIBUTING.md.',
  ]);
});
