import { describe, expect, it } from 'vitest';
import { Circuit } from '../../../src/backends/rest/circuit.ts';

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
});
