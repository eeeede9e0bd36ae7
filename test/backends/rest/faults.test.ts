import { afterAll, describe, expect, it } from 'vitest';
import { startFaultServer } from '../../support/fault-server.ts';
import { openGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { openTelemetry } from '../../support/log.ts';
import { openRest } from '../../support/rest-gateway.ts';
import { type Fault, faults, key, listPets } from './fault-table.ts';

/** The deadline of calls; those that never end need not wait as long. */
const deadlineOf = ({ code }: Fault) => (code === 'UPSTREAM_TIMEOUT' ? 300 : 1000);

describe('a faulty REST service', () => {
  const table: string[] = [];
  afterAll(() => {
    const passed = table.filter((row) => row.endsWith('pass')).length;
    process.stdout.write(`${table.join('\n')}\n${passed} of ${faults.length} passed\n`);
  });

  it.each(faults)('causes the expected response: $name', async (fault) => {
    await using server = await startFaultServer(fault.respond);
    const timeoutMs = deadlineOf(fault);
    const telemetry = openTelemetry();
    await using petStore = openRest(server.url, { timeoutMs }, telemetry);
    await using opened = await openGateway({ petStore });
    const memory = process.memoryUsage.rss();
    const start = performance.now();
    const headers = { authorization: `Bearer ${key}` };
    const query = fault.query ?? listPets;
    const { status, text, data, errors } = await postGraphQL(opened.gateway, query, {}, headers);
    const elapsed = performance.now() - start;
    const growth = (process.memoryUsage.rss() - memory) / 1e6;
    const extensions = errors?.[0]?.extensions;
    const row = [
      fault.name.padEnd(44),
      String(extensions?.['code'] ?? 'data').padEnd(26),
      String(extensions?.['status'] ?? '').padEnd(4),
      `${elapsed.toFixed(0)} ms`.padStart(8),
      `${Math.max(0, growth).toFixed(0)} MB`.padStart(7),
    ].join(' ');
    table.push(`${row}  FAIL`);

    expect(status).toBe(200);
    expect(data?.['r']).toEqual(fault.data ?? null);
    expect(errors?.map((error) => error.extensions['code'])).toEqual(
      fault.code === undefined ? undefined : [fault.code],
    );
    expect(extensions?.['status']).toBe(fault.status);
    expect(extensions?.['retryAfterMs']).toEqual(fault.retryAfterMs);
    expect(extensions?.['outcome']).toBe(fault.outcome);
    expect(server.attempts()).toBe(fault.attempts ?? 1);
    for (const output of [text, ...telemetry.logged, ...opened.logged]) {
      expect(output).not.toContain(key);
      expect(output).not.toContain(new URL(server.url).host);
      expect(output).not.toMatch(/127\.0\.0\.1|node_modules|undici|\.[jt]s:\d|\/srv\/x/);
    }
    expect(text).not.toMatch(/10\.0\.0\.1|\/srv/);
    // Operations end at the deadline; the rest allows for a slow machine.
    expect(elapsed).toBeLessThan(timeoutMs + 3000);
    expect(growth).toBeLessThan(100);
    table[table.length - 1] = `${row}  pass`;
  });
});
