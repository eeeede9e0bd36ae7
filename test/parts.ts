/**
 * The parts of the tests that `npm test` leaves out, and what they test. Each has the folder of its name
 * below `test`. All other folders are what `npm test` runs, the product.
 */
export const parts: Readonly<Record<string, string>> = {
  browser: 'GraphiQL, the reference page, CORS and a React page in a browser',
  clients: 'Apollo Client, urql and fetch, and the package for clients',
  databases: 'full disks, PostgreSQL that fails, its TLS, PgBouncer',
  deploy: 'the configuration in deploy, the package, the release, the image, the failover',
  docs: 'the pages, recipes and changes in docs, and the frameworks that they mention',
  hostile: 'attacks beside an honest client, measured, the limits of connections, and a load',
  processes: 'several processes, uploads, SIGHUP, pipes and disks of the log',
  stores: 'the rates and the writes that several gateways share in Redis',
};
