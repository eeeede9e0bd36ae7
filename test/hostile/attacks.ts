import type { Attack } from './attack.ts';
import { connectionAttacks } from './attacks/connections.ts';
import { documentAttacks } from './attacks/documents.ts';
import { builtInAttacks } from './attacks/pages.ts';

/** Every attack of the suite. The first does nothing, as the baseline. */
export const attacks: readonly Attack[] = [
  {
    id: 'none',
    backend: 'rest',
    run: ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  },
  ...documentAttacks,
  ...connectionAttacks,
  ...builtInAttacks,
];
