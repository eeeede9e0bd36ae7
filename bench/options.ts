import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defaultConnections } from './load.ts';
import { against, gateway, type Stack, stacks } from './stacks.ts';
import { workloads } from './workloads.ts';

/** What a run measures, and where it writes the results. */
export interface Options {
  readonly stacks: readonly Stack[];
  readonly rounds: number;
  readonly seconds: number;
  /** The file for the figures of every round. */
  readonly json: string | undefined;
  /** The file for the chart. */
  readonly svg: string | undefined;
}

/** The text of `--help`. */
export const usage = `Usage: npm run bench -- [options]

Compares the gateway with its peers by CPU time per request: the same REST service, one core for
the servers, ${defaultConnections} connections, ${workloads.length} workloads in random order. Prints a table, and takes about
13 minutes. Needs Linux, two cores and wrk. The first run installs the peers into bench/peers.

Options:
  --rounds N     start and measure each server N times (default: 5)
  --seconds N    put a server under load for N seconds at a time (default: 2)
  --only NAMES   measure only these servers, separated by commas:
                 ${stacks.map(({ name }) => name).join(', ')}
  --against DIR  measure the gateway and the built gateway of another checkout
  --json PATH    write the figures of every round
  --svg PATH     write the chart (default: bench/benchmark.svg if no option changes what is measured)
  --help         show this help

Environment:
  TAILCALL_LIBC  a folder with a C library for Tailcall (ld-linux-x86-64.so.2 and libc.so.6);
                 needed if the machine's own is older than glibc 2.39
`;

const docsChart = fileURLToPath(new URL('benchmark.svg', import.meta.url));

/** Parses the command line. @throws on an option, a name or a number that `usage` does not allow. */
export function readOptions(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      against: { type: 'string' },
      json: { type: 'string' },
      svg: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { only, against: folder, rounds, seconds } = values;
  const isDefault = [only, folder, rounds, seconds].every((value) => value === undefined);
  const chosen = only === undefined ? (folder ? [gateway] : stacks) : selectStacks(only);
  return {
    stacks: folder === undefined ? chosen : [...chosen, against(folder)],
    rounds: readCount('--rounds', rounds ?? '5'),
    seconds: readCount('--seconds', seconds ?? '2'),
    json: values.json,
    svg: values.svg ?? (isDefault ? docsChart : undefined),
  };
}

function selectStacks(names: string): readonly Stack[] {
  const requested = names.split(',').map((name) => name.trim());
  const known = stacks.map(({ name }) => name);
  const unknown = requested.filter((name) => !known.includes(name));
  if (unknown.length === 0) return stacks.filter(({ name }) => requested.includes(name));
  throw new Error(
    `--only: expected names from ${known.join(', ')}; received ${unknown.join(', ')}.`,
  );
}

function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new Error(`${option}: expected a whole number from 1 to 9999; received ${text}.`);
}
