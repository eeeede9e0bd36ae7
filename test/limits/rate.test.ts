import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Rate } from '../../src/limits/rate.ts';

describe('a rate', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'], now: 0 }));
  afterEach(() => void vi.useRealTimers());

  /** Takes as many tokens as there are. */
  function drain(rate: Rate, key: number): number {
    let taken = 0;
    while (rate.take(key)) taken++;
    return taken;
  }

  it.each([1, 3, 6, 7, 20, 1000])('of %i allows one second at once, then its rate', (perSecond) => {
    const rate = new Rate(perSecond);
    expect(drain(rate, 1)).toBe(perSecond);
    let taken = 0;
    for (let times = 0; times < 2000; times++) {
      vi.advanceTimersByTime(1);
      taken += drain(rate, 1);
    }
    expect(taken).toBe(2 * perSecond);
    vi.advanceTimersByTime(60_000);
    expect(drain(rate, 1)).toBe(perSecond);
  });

  it('is one per key', () => {
    const rate = new Rate(5);
    expect([drain(rate, 1), drain(rate, 2), drain(rate, 1)]).toEqual([5, 5, 0]);
  });

  it('does not forget a key that has just used its tokens', () => {
    const rate = new Rate(10);
    for (let times = 0; times < 50; times++) {
      expect(drain(rate, times)).toBe(10);
      vi.advanceTimersByTime(70);
      expect(drain(rate, times)).toBe(0);
    }
  });
});
