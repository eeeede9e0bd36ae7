import { describe, expect, it } from 'vitest';
import { Circuit } from '../../src/backends/rest/circuit.ts';

describe('a circuit', () => {
  it('reports when it opens and when it closes, once each', () => {
    const changes: string[] = [];
    const limits = { breakAfterFailures: 2, halfOpenAfterMs: 0 };
    const circuit = new Circuit(limits, { onChange: (state) => changes.push(state) });
    const start = () => {
      circuit.start();
      return performance.now();
    };
    circuit.fail(start());
    expect(changes).toEqual([]);
    circuit.fail(start());
    expect(changes).toEqual(['open']);
    circuit.fail(start());
    expect(changes).toEqual(['open']);
    start();
    circuit.succeed();
    expect(changes).toEqual(['open', 'closed']);
  });
});
