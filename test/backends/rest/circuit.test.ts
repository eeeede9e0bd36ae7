import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Circuit, KeyCircuits } from '../../../src/backends/rest/circuit.ts';

describe('a circuit', () => {
  it('reports when it opens and when it closes, once each', () => {
    const changes: string[] = [];
    const limits = { breakAfterFailures: 2, halfOpenAfterMs: 0 };
    const circuit = new Circuit(limits, (state) => changes.push(state));
    const call = (effect: 'success' | 'failure') => {
      circuit.start();
      circuit.end(effect, performance.now());
    };
    call('failure');
    expect(changes).toEqual([]);
    call('failure');
    expect(changes).toEqual(['open']);
    call('failure');
    expect(changes).toEqual(['open']);
    call('success');
    expect(changes).toEqual(['open', 'closed']);
  });

  it('says how long it rejects calls: less and less, then as long as a probe may take', () => {
    const circuit = new Circuit({ breakAfterFailures: 1, halfOpenAfterMs: 5000 });
    expect(circuit.rejectsForMs(performance.now())).toBe(0);
    circuit.end('failure', performance.now());
    const now = performance.now();
    expect(circuit.rejectsForMs(now)).toBeGreaterThan(0);
    expect(circuit.rejectsForMs(now + 3000)).toBeLessThanOrEqual(2000);
    expect(circuit.rejectsForMs(now + 5000)).toBe(0);
    circuit.start();
    expect(circuit.rejectsForMs(now + 5000)).toBe(1000);
  });

  it('opens again for the whole time if its probe fails', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const circuit = new Circuit({ breakAfterFailures: 1, halfOpenAfterMs: 5000 });
    circuit.end('failure', performance.now());
    vi.advanceTimersByTime(5000);
    expect(circuit.rejectsForMs(performance.now())).toBe(0);
    circuit.start();
    circuit.end('failure', performance.now());
    expect(circuit.rejectsForMs(performance.now())).toBe(5000);
  });
});

describe('the circuits of keys', () => {
  it('are stored for a limited number of keys', () => {
    const circuits = new KeyCircuits({ breakAfterFailures: 1, halfOpenAfterMs: 60_000 });
    for (let index = 0; index < 5000; index++) {
      circuits.end(index, 'failure', performance.now());
    }
    expect(circuits.countOpen()).toBe(1000);
    expect(circuits.get(3999)).toBeUndefined();
    expect(circuits.get(4000)?.rejectsForMs(performance.now())).toBeGreaterThan(0);
    circuits.end(4000, 'success', performance.now());
    expect(circuits.get(4000)).toBeUndefined();
  });

  it('are counted only while they reject calls', () => {
    const circuits = new KeyCircuits({ breakAfterFailures: 2, halfOpenAfterMs: 60_000 });
    circuits.end(1, 'failure', performance.now());
    expect(circuits.countOpen()).toBe(0);
    circuits.end(1, 'failure', performance.now());
    expect(circuits.countOpen()).toBe(1);
  });
});
