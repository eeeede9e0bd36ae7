import { describe, expect, it } from 'vitest';
import { Circuit } from '../../src/backends/rest/circuit.ts';

describe('a circuit', () => {
  it('reports that it opened, once, and that it closed', () => {
    const changes: string[] = [];
    const limits = { breakAfterFailures: 2, halfOpenAfterMs: 0 };
    const circuit = new Circuit(limits, { onChange: (state) => changes.push(state) });
    const begin = () => {
      circuit.begin();
      return performance.now();
    };
    circuit.fail(begin());
    expect(changes).toEqual([]);
    circuit.fail(begin());
    expect(changes).toEqual(['open']);
    circuit.fail(begin());
    expect(changes).toEqual(['open']);
    begin();
    circuit.succeed();
    expect(changes).toEqual(['open', 'closed']);
  });
});
