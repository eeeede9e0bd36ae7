import { expect, it } from 'vitest';
import { monitorPace } from '../../bench/pace.ts';

it('repeats a measurement while the machine runs slowly', async () => {
  let repetitions = 0;
  const { pace, loop, timed } = controlLoop(() => repetitions++);
  await timed(3);
  let measurements = 0;

  const { result, slowShare } = await pace.measure(async () => {
    loop.ms = ++measurements < 3 ? 5 : 1;
    await timed(3);
    return measurements;
  });

  expect({ result, slowShare, repetitions }).toEqual({ result: 3, slowShare: 0, repetitions: 2 });
});

it('returns the last of three slow measurements, with the share of slow time', async () => {
  const { pace, loop, timed } = controlLoop(() => {});
  await timed(3);
  loop.ms = 5;
  let measurements = 0;

  const { result, slowShare } = await pace.measure(async () => {
    await timed(3);
    return ++measurements;
  });

  expect({ result, slowShare }).toEqual({ result: 3, slowShare: 1 });
});

/** A monitor with a loop that takes `loop.ms`; `timed` resolves when it was timed so often. */
function controlLoop(reportRepetition: () => void) {
  const loop = { ms: 1 };
  let onTimed = () => {};
  const pace = monitorPace(reportRepetition, () => {
    onTimed();
    return loop.ms;
  });
  const timed = (times: number) =>
    new Promise<void>((resolve) => {
      let left = times;
      onTimed = () => {
        if (--left === 0) resolve();
      };
    });
  return { pace, loop, timed };
}
