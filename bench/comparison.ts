import { gateway, mounted, type Stack } from './stacks.ts';
import { defaultWorkload, ownWorkloads, type Workload } from './workloads.ts';

/** A server and the workload that it is measured with. */
export interface Entry {
  readonly title: string;
  readonly stack: Stack;
  readonly workload: Workload;
}

/** Entries that are measured together, in interleaved rounds. */
export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  /** Whether the gateway is compared with itself: each rate is then relative to the first entry. */
  readonly isOwn: boolean;
}

/** Compares the servers that support a workload. */
export function compareServers(workload: Workload, stacks: readonly Stack[]): Comparison {
  const { name, title, needs } = workload;
  const entries = stacks
    .filter(({ features, database }) =>
      database ? database === needs : needs === undefined || features.includes(needs),
    )
    .map((stack) => ({ title: stack.title, stack, workload }));
  return { name, title, entries, isOwn: false };
}

/** Compares client requests and mounted gateways with the gateway serving a bare POST. */
export const ownComparison: Comparison = {
  name: 'shapes',
  title: 'petstore-gateway: 20 pets, a key per request',
  entries: [
    ...ownWorkloads.map((workload) => ({
      title: workload === defaultWorkload ? 'Bare POST' : workload.title,
      stack: gateway,
      workload,
    })),
    ...mounted.map((stack) => ({ title: stack.title, stack, workload: defaultWorkload })),
  ],
  isOwn: true,
};
