import { describe, expect, it, vi } from 'vitest';
import { encodeResponse, startFaultServer } from '../../support/fault-server.ts';
import { openGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { openTelemetry } from '../../support/log.ts';
import { openRest } from '../../support/rest-gateway.ts';
import { type Fault, faults, key, listPets } from './fault-table.ts';

/** The deadline of calls; those that never end need not wait as long. */
const deadlineOf = ({ code }: Pick<Fault, 'code'>) => (code === 'UPSTREAM_TIMEOUT' ? 3000 : 20_000);
const maxRss = () => process.resourceUsage().maxRSS * 1024;

/** Lets a client operate against a service with this fault. */
async function operate(fault: Fault) {
  await using server = await startFaultServer(fault.respond);
  const telemetry = openTelemetry();
  await using petStore = openRest(server.url, { timeoutMs: deadlineOf(fault) }, telemetry);
  await using opened = await openGateway({ petStore });
  const headers = { authorization: `Bearer ${key}` };
  const response = await postGraphQL(opened.gateway, fault.query ?? listPets, {}, headers);
  return {
    ...response,
    attempts: server.attempts(),
    host: new URL(server.url).host,
    logged: [...telemetry.logged, ...opened.logged],
  };
}

vi.setConfig({ maxConcurrency: 10 });

describe('a faulty REST service', () => {
  const before = maxRss();

  const expectResponse = async (fault: Fault) => {
    const { status, text, data, errors, attempts, host, logged } = await operate(fault);
    const [{ message = '', extensions = {} } = {}] = errors ?? [];
    const { code, outcome, retryAfterMs, error } = fault;
    const { requestId, code: _, ...details } = extensions;
    const codes = errors?.map((one) => one.extensions['code']);
    const expected = [200, fault.data ?? null, code && [code]];
    expect([status, data?.['r'], codes]).toEqual(expected);
    expect(details).toEqual({ status: fault.status, retryAfterMs, outcome, error });
    if (fault.message !== undefined) expect(message).toBe(fault.message);
    expect(message.includes('may have been carried out')).toBe(outcome === 'UNKNOWN');
    expect(attempts).toBe(fault.attempts ?? 1);
    for (const output of [text, ...logged]) {
      expect(output).not.toContain(key);
      expect(output).not.toContain(host);
      expect(output).not.toMatch(/127\.0\.0\.1|node_modules|undici|\.[jt]s:\d|\/srv\/x/);
    }
    expect(text).not.toMatch(/10\.0\.0\.1|\/srv/);
  };
  const isLate = ({ code }: Fault) => code === 'UPSTREAM_TIMEOUT';
  const title = 'causes the expected response: $name';
  it.each(faults.filter((fault) => !isLate(fault)))(title, expectResponse);
  // All deadlines pass at the same time.
  it.concurrent.each(faults.filter(isLate))(title, expectResponse);

  it('needs little memory, however much it sends', () => {
    expect(maxRss() - before).toBeLessThan(300_000_000);
  });
});

describe('the log line of a failed call', () => {
  it.each(['m', '語', '\u0000'])('fits into an atomic write to a pipe: %j', async (character) => {
    const text = character.repeat(2000);
    const body = JSON.stringify({ code: text, message: text, status: 200 });
    const respond: Fault['respond'] = (socket) => socket.write(encodeResponse('500 Oops', body));
    const { logged } = await operate({ name: '', code: 'UPSTREAM_ERROR', respond });
    const [line = ''] = logged;
    expect(JSON.parse(line)).toMatchObject({ status: 500, message: character.repeat(500) });
    expect(Buffer.byteLength(line)).toBeLessThan(4096);
  });
});
