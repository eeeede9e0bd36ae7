import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { cores } from './cores.ts';
import { defaultConnections } from './load.ts';
import type { Plan } from './measure.ts';
import { peers, type Stack } from './stacks.ts';

/** Describes the machine, the cores and the plan of a run, one line each. */
export function describeMachine(generator: string, plan: Plan): readonly string[] {
  const processors = cpus();
  return [
    `${processors[0]?.model.trim()}, ${processors.length} cores; Node ${process.versions.node}; ${generator}.`,
    `The server runs alone on core ${cores.server}; the REST service and the load (${defaultConnections} connections) share core ${cores.load}.`,
    `Medians of ${plan.servers * plan.rounds} interleaved rounds of ${plan.secondsPerRound} s, each after a lead-in of ${plan.leadInSeconds} s. Server starts: ${plan.servers}, each with a warm-up of ${plan.warmUpSeconds} s.`,
  ];
}

/** The installed versions of the servers' packages, by package name. */
export function versionsOf(stacks: readonly Stack[]): Readonly<Record<string, string>> {
  const packages = new Set(stacks.flatMap((stack) => stack.packages));
  return Object.fromEntries([...packages].map((name) => [name, versionOf(name)]));
}

function versionOf(name: string): string {
  const text = readFileSync(join(peers, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version.replace(/^v/, '');
}
