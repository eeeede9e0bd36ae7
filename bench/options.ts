import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ownComparison } from './comparison.ts';
import { usualConnections } from './load.ts';
import type { Plan } from './measure.ts';
import { against, gateway, mounted, type Stack, stacks } from './stacks.ts';
import { type Workload, workloads } from './workloads.ts';

/** What a run measures, and where it writes. */
export interface Options {
  readonly stacks: readonly Stack[];
  readonly workloads: readonly Workload[];
  /** Whether the gateway is compared with itself, as clients and other servers use it. */
  readonly shapes: boolean;
  /** Whether the time to the first answer is measured too. */
  readonly start: boolean;
  readonly plan: Plan;
  /** The file that the raw figures go to. */
  readonly json: string | undefined;
  /** The file that the picture goes to. */
  readonly svg: string | undefined;
}

const full: Plan = {
  servers: 1,
  warmUpSeconds: 6,
  rounds: 7,
  leadInSeconds: 1,
  secondsPerRound: 2,
};
const quick: Plan = { ...full, warmUpSeconds: 2, rounds: 2 };
const builds: Plan = { ...full, servers: 5, warmUpSeconds: 4, rounds: 3 };
const start = { name: 'start', title: 'From the spawn to the first answer' };

/** The text of `--help`. */
export const usage = `Usage: npm run bench -- [options]

Measures the gateway beside its peers: the same schema, the same REST service, one core for the
server, ${usualConnections} connections, rounds in turns. The whole takes about an hour. The peers are
installed at the first run, into bench/peers, with some 600 MB.

Options:
  --quick         short rounds: to see that everything works, not to compare
  --only NAMES    these servers, separated by commas:
${list([...stacks, ...mounted])}
  --against DIR   the gateway beside the one that is built in another checkout, several servers of
                  each in turns; without others unless --only names them
  --workload NAMES
                  these workloads, separated by commas:
${list([...workloads, ownComparison, start])}
  --json PATH     write the raw figures of every round
  --svg PATH      write the picture; a whole run writes docs/benchmark.svg
  --help          this text

Environment:
  TAILCALL_LIBC   a folder with a C library for Tailcall (ld-linux-x86-64.so.2 and libc.so.6),
                  where the machine's own is too old for it
`;

/** Reads the command line. @throws when it holds something else than `usage` says. */
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
  const isWhole = [only, values.against, names].every((value) => value === undefined);
  const rival = values.against === undefined ? [] : [against(values.against)];
  const usual = rival.length > 0 ? [gateway] : stacks;
  const chosen = choose('--workload', names, [...workloads, ownComparison, start]);
  return {
    stacks: [
      ...(only === undefined ? usual : choose('--only', only, [...stacks, ...mounted])),
      ...rival,
    ],
    workloads: workloads.filter((workload) => chosen.includes(workload)),
    shapes:
      chosen.includes(ownComparison) &&
      (names !== undefined || (only === undefined && rival.length === 0)),
    start: chosen.includes(start),
    plan: values.quick ? quick : rival.length > 0 ? builds : full,
    json: values.json,
    svg: values.svg ?? (isWhole && !values.quick ? docsPicture : undefined),
  };
}

const docsPicture = fileURLToPath(new URL('../docs/benchmark.svg', import.meta.url));

/** What was named of these; all of them when nothing was. @throws naming what is not known. */
export function choose<T extends { readonly name: string }>(
  option: string,
  names: string | undefined,
  all: readonly T[],
): readonly T[] {
  if (names === undefined) return all;
  const asked = names.split(',').map((name) => name.trim());
  const known = all.map(({ name }) => name);
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `${option}: expected names out of ${known.join(', ')}; received ${unknown.join(', ')}.`,
    );
  }
  return all.filter(({ name }) => asked.includes(name));
}

function list(items: readonly { readonly name: string; readonly title: string }[]): string {
  return items.map(({ name, title }) => `      ${name.padEnd(23)}${title}`).join('\n');
}
