import { expect, it } from 'vitest';
import { monitorPace } from '../../bench/pace.ts';

it('repeats a measurement while the machine runs slowly', async () => {
  // The loop takes 1 ms, except during the first two measurements.
  let measurements = 0;
  let repetitions = 0;
  let onProbe = () => {};
  const pace = monitorPace(
    () => repetitions++,
    () => {
      onProbe();
      return measurements === 1 || measurements === 2 ? 5 : 1;
    },
  );
  const probes = (count: number) =>
    new Promise<void>((resolve) => {
      let left = count;
      onProbe = () => {
        if (--left === 0) resolve();
      };
    });
  await probes(3);

  const { result, slowShare } = await pace.measure(async () => {
    measurements++;
    await probes(6);
    return measurements;
  });

  expect({ result, slowShare, repetitions }).toEqual({ result: 3, slowShare: 0, repetitions: 2 });
});

it('returns the last of ten slow measurements, with the share of slow time', async () => {
  let isSlow = false;
  let onProbe = () => {};
  const pace = monitorPace(
    () => {},
    () => {
      onProbe();
      return isSlow ? 5 : 1;
    },
  );
  await new Promise<void>((resolve) => {
    onProbe = resolve;
  });
  isSlow = true;
  let measurements = 0;

  const { result, slowShare } = await pace.measure(async () => {
    await new Promise<void>((resolve) => {
      onProbe = resolve;
    });
    return ++measurements;
  });

  expect({ result, slowShare }).toEqual({ result: 10, slowShare: 1 });
});
