/** The parts of a V8 `.cpuprofile` file that count here; times in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  /** Which node was running at each sample, ... */
  readonly samples: readonly number[];
  /** ... and how long before it the last sample was. */
  readonly timeDeltas: readonly number[];
}

/** A share of the time, 0 to 1, that was spent in a place itself, not in what it called. */
export interface SelfTime {
  readonly name: string;
  readonly share: number;
}

/** Where the time went, the most first. */
export interface Summary {
  readonly functions: readonly SelfTime[];
  readonly packages: readonly SelfTime[];
}

/** Sums a profile up, but for its first milliseconds and for idle time. */
export function summarise(profile: CpuProfile, skippedMs = 0): Summary {
  const micros = new Map<number, number>();
  let elapsed = 0;
  profile.samples.forEach((id, index) => {
    const delta = profile.timeDeltas[index] ?? 0;
    elapsed += delta;
    if (elapsed > skippedMs * 1000) micros.set(id, (micros.get(id) ?? 0) + delta);
  });
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let total = 0;
  for (const { id, callFrame } of profile.nodes) {
    const time = micros.get(id) ?? 0;
    if (time === 0 || callFrame.functionName === '(idle)') continue;
    const { functionName, url, lineNumber } = callFrame;
    const name = functionName || '(anonymous)';
    const where = url === '' ? placeOfNative(name) : placeOf(url);
    const what = url === '' ? name : `${name}  ${fileOf(url)}:${lineNumber + 1}`;
    functions.set(what, (functions.get(what) ?? 0) + time);
    packages.set(where, (packages.get(where) ?? 0) + time);
    total += time;
  }
  const rank = (times: ReadonlyMap<string, number>) =>
    [...times]
      .map(([name, time]) => ({ name, share: time / total }))
      .sort((a, b) => b.share - a.share);
  return { functions: rank(functions), packages: rank(packages) };
}

/** The package of a file, the folder of one of ours, or `node` for Node's own. */
function placeOf(url: string): string {
  if (url.startsWith('node:')) return 'node';
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  return inPackage ?? /\/(src\/\w+)/.exec(url)?.[1] ?? url;
}

/** Without a file: V8's states such as (garbage collector), and functions of Node in C++. */
function placeOfNative(name: string): string {
  return name.startsWith('(') ? name : 'native';
}

/** A file without the folders above it that say nothing. */
function fileOf(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\/(?=src\/)/, '');
}
