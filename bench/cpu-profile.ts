/** The parts of a V8 `.cpuprofile` file that are used here. Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  /** The id of the node that was running at each sample. */
  readonly samples: readonly number[];
  /** The time between each sample and the one before. */
  readonly timeDeltas: readonly number[];
}

/** The share of the time, 0 to 1, spent in a function or package itself, without the functions it calls. */
export interface SelfTime {
  readonly name: string;
  readonly share: number;
}

/** Self time by function and by package, largest share first. */
export interface Summary {
  readonly functions: readonly SelfTime[];
  readonly packages: readonly SelfTime[];
}

/** Summarises a profile, without idle time and the first `skippedMs` milliseconds. */
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
    const where = url === '' ? packageOfNative(name) : packageOf(url);
    const what = url === '' ? name : `${name}  ${shortPathOf(url)}:${lineNumber + 1}`;
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

/** The package of a file, `src/<folder>` for the gateway's files, or `node` for Node's own. */
function packageOf(url: string): string {
  if (url.startsWith('node:')) return 'node';
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  return inPackage ?? /\/(src\/\w+)/.exec(url)?.[1] ?? url;
}

/** The group of a frame without a file: a V8 state such as (garbage collector), or native code. */
function packageOfNative(name: string): string {
  return name.startsWith('(') ? name : 'native';
}

/** The path of a file from its package, or from `src` for the gateway's files. */
function shortPathOf(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\/(?=src\/)/, '');
}
