import { gateway, mounted, type Stack } from './stacks.ts';
import { ownWorkloads, usualWorkload, type Workload } from './workloads.ts';

/** A server under a workload. */
export interface Entry {
  readonly title: string;
  readonly stack: Stack;
  readonly workload: Workload;
}

/** Entries whose rounds take turns. */
export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  /** Whether the gateway is compared with itself: each rate is then divided by that of the first entry. */
  readonly isOwn: boolean;
}

/** A workload for each of the servers that can serve it. */
export function compareServers(workload: Workload, stacks: readonly Stack[]): Comparison {
  const { name, title, needs } = workload;
  const entries = stacks
    .filter(({ features }) => needs === undefined || features.includes(needs))
    .map((stack) => ({ title: stack.title, stack, workload }));
  return { name, title, entries, isOwn: false };
}

/** What clients send to the gateway, and the gateway in other servers, beside the bare POST. */
export const ownComparison: Comparison = {
  name: 'shapes',
  title: 'petstore-gateway: 20 pets, a key per request',
  entries: [
    ...ownWorkloads.map((workload) => ({
      title: workload === usualWorkload ? 'Bare POST' : workload.title,
      stack: gateway,
      workload,
    })),
    ...mounted.map((stack) => ({ title: stack.title, stack, workload: usualWorkload })),
  ],
  isOwn: true,
};
