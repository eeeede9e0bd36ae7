import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ownComparison } from './comparison.ts';
import { defaultConnections } from './load.ts';
import type { Plan } from './measure.ts';
import { against, gateway, mounted, type Stack, stacks } from './stacks.ts';
import { type Workload, workloads } from './workloads.ts';

/** What a run measures, and where it writes the results. */
export interface Options {
  readonly stacks: readonly Stack[];
  readonly workloads: readonly Workload[];
  /** Whether to compare client requests and mounted gateways with a bare POST to the gateway. */
  readonly shapes: boolean;
  /** Whether to measure the time to the first response. */
  readonly start: boolean;
  readonly plan: Plan;
  /** The file for the raw figures. */
  readonly json: string | undefined;
  /** The file for the chart. */
  readonly svg: string | undefined;
}

const full: Plan = {
  servers: 1,
  warmUpSeconds: 12,
  rounds: 7,
  leadInSeconds: 1,
  secondsPerRound: 2,
};
const quick: Plan = { ...full, warmUpSeconds: 8, rounds: 2 };
const builds: Plan = { ...full, servers: 5, warmUpSeconds: 4, rounds: 3 };
const start = { name: 'start', title: 'The time from spawn to the first response' };

/** The text of `--help`. */
export const usage = `Usage: npm run bench -- [options]

Compares the gateway with its peers: the same schema, the same REST service, one core for the
server, ${defaultConnections} connections, interleaved rounds. A full run takes more than an hour. The first
run installs the peers into bench/peers (about 600 MB).

Options:
  --quick         run two rounds after a short warm-up, for a first impression
  --only NAMES    measure only these servers, separated by commas:
${list([...stacks, ...mounted])}
  --against DIR   compare with the built gateway of another checkout, starting each several times;
                  other servers are measured only if --only names them
  --workload NAMES
                  run only these workloads, separated by commas:
${list([...workloads, ownComparison, start])}
  --json PATH     write the raw figures of every round
  --svg PATH      write the chart; a full run writes docs/benchmark.svg
  --help          show this help

Environment:
  TAILCALL_LIBC   a folder with a C library for Tailcall (ld-linux-x86-64.so.2 and libc.so.6);
                  needed if the machine's own is too old
`;

/** Parses the command line. @throws on an option or a name that `usage` does not list. */
export function readOptions(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      against: { type: 'string' },
      workload: { type: 'string' },
      json: { type: 'string' },
      svg: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { only, workload: names } = values;
  const isFullRun = [only, values.against, names].every((value) => value === undefined);
  const rival = values.against === undefined ? [] : [against(values.against)];
  const defaults = rival.length > 0 ? [gateway] : stacks;
  const chosen = selectByName('--workload', names, [...workloads, ownComparison, start]);
  return {
    stacks: [
      ...(only === undefined ? defaults : selectByName('--only', only, [...stacks, ...mounted])),
      ...rival,
    ],
    workloads: workloads.filter((workload) => chosen.includes(workload)),
    shapes:
      chosen.includes(ownComparison) &&
      (names !== undefined || (only === undefined && rival.length === 0)),
    start: chosen.includes(start),
    plan: values.quick ? quick : rival.length > 0 ? builds : full,
    json: values.json,
    svg: values.svg ?? (isFullRun && !values.quick ? docsChart : undefined),
  };
}

const docsChart = fileURLToPath(new URL('../docs/benchmark.svg', import.meta.url));

/** Selects items by comma-separated names, or all without names. @throws on an unknown name. */
export function selectByName<T extends { readonly name: string }>(
  option: string,
  names: string | undefined,
  all: readonly T[],
): readonly T[] {
  if (names === undefined) return all;
  const requested = names.split(',').map((name) => name.trim());
  const known = all.map(({ name }) => name);
  const unknown = requested.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `${option}: expected names from ${known.join(', ')}; received ${unknown.join(', ')}.`,
    );
  }
  return all.filter(({ name }) => requested.includes(name));
}

function list(items: readonly { readonly name: string; readonly title: string }[]): string {
  return items.map(({ name, title }) => `      ${name.padEnd(23)}${title}`).join('\n');
}
