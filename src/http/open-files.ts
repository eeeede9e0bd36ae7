import type { Log } from '../telemetry/log.ts';

/** The most connections to the public port; an idle one takes about 20 kB. */
const maxConnections = 5000;

/** Open files that are none of these: 256 connections to services, 100 to the admin port, and the database's. */
const reserve = 400;

/** Returns the most connections that this process's limit of open files allows. Warns if they are fewer than usual. */
export function connectionLimit(log?: Log): number {
  const report: { userLimits?: Record<string, { soft: unknown }> } = process.report.getReport();
  const openFiles = report.userLimits?.['open_files']?.soft;
  if (typeof openFiles !== 'number') return maxConnections;
  const left = Math.max(openFiles - reserve, Math.floor(openFiles / 2));
  if (left >= maxConnections) return maxConnections;
  const message = `the limit of open files allows fewer than ${maxConnections} connections: raise LimitNOFILE or ulimit -n`;
  log?.warn({ openFiles, maxConnections: left }, message);
  return left;
}
