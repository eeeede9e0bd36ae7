import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { cores } from './cores.ts';
import { usualConnections } from './load.ts';
import type { Plan } from './measure.ts';
import { peers, type Stack } from './stacks.ts';

/** On what and how is measured, a line each. */
export function describeMachine(generator: string, plan: Plan): readonly string[] {
  const processors = cpus();
  return [
    `${processors[0]?.model.trim()}, ${processors.length} cores; Node ${process.versions.node}; ${generator}.`,
    `The server on core ${cores.server} alone; the REST service and the load, ${usualConnections} connections, on core ${cores.load}.`,
    `Medians of ${plan.servers * plan.rounds} rounds of ${plan.secondsPerRound} s in turns, each after ${plan.leadInSeconds} s of lead-in; ${plan.servers} times a new server with ${plan.warmUpSeconds} s of warm-up.`,
  ];
}

/** The versions of the packages that the servers stand on. */
export function versionsOf(stacks: readonly Stack[]): Readonly<Record<string, string>> {
  const packages = new Set(stacks.flatMap((stack) => stack.packages));
  return Object.fromEntries([...packages].map((name) => [name, versionOf(name)]));
}

function versionOf(name: string): string {
  const text = readFileSync(join(peers, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version.replace(/^v/, '');
}
