/** A part of the tests that `npm test` leaves out. Its script is `test:` and its name. */
export interface Part {
  /** What it tests. */
  readonly about: string;
  /** What it needs besides npm. Without it, the tests that need it are skipped. */
  readonly needs?: string;
  /** Whether its files run one after the other, because they measure. */
  readonly isAlone?: true;
}

/**
 * The parts that `npm test` leaves out. Each has the folder of its name below `test`. All other folders are
 * what `npm test` runs, the product.
 */
export const parts: Readonly<Record<string, Part>> = {
  browser: {
    about: 'GraphiQL, the reference page, CORS and a React page in a browser',
    needs: 'Chromium',
  },
  clients: {
    about: 'Apollo Client, urql and fetch, and the package for clients',
    needs: 'an npm registry',
  },
  databases: {
    about: 'PostgreSQL that fails or restarts, its TLS, PgBouncer',
    needs: 'PgBouncer',
  },
  deploy: {
    about: 'the configuration in deploy, the package, the release, the image, the failover',
    needs:
      'nginx, Prometheus, an npm registry; for the image and the failover root and more packages',
  },
  docs: {
    about: 'the pages, recipes and changes in docs, and the frameworks that they mention',
    needs: 'Chromium, an npm registry',
  },
  hostile: { about: 'attacks beside an honest client, measured', isAlone: true },
  processes: {
    about: 'several processes, SIGHUP, pipes and disks of the log',
    needs: 'root for the disks',
  },
  stores: { about: 'the rate that several gateways share', needs: 'Redis' },
};
