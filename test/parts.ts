/** A part of the tests, which its script in package.json runs alone, such as `npm run test:browser`. */
export interface Part {
  /** What it tests. */
  readonly about: string;
  /** Whether its files run one after the other, because they measure. */
  readonly isAlone?: true;
}

/**
 * The parts that `npm test` leaves out. Each has the folder of its name. All other folders are the
 * part `product`, which `npm test` runs.
 */
export const parts: Readonly<Record<string, Part>> = {
  browser: { about: "GraphiQL, the reference page, CORS and React's page in Chromium" },
  clients: { about: 'Apollo Client, urql and fetch, and the package for clients' },
  databases: { about: 'PostgreSQL that fails, its TLS, PgBouncer' },
  deploy: { about: 'Kubernetes, nginx, Prometheus, the package, the release' },
  docs: { about: 'the pages and recipes in docs, and the frameworks that they mention' },
  hostile: { about: 'attacks beside an honest client', isAlone: true },
  processes: { about: 'several processes, SIGHUP, pipes and disks of the log' },
  stores: { about: 'the shared rate in Redis' },
};
