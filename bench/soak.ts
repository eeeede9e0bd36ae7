import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { encodeResponse, type Respond, startFaultServer } from '../test/support/fault-server.ts';

const usage = `Usage: npm run dev -- bench:soak [seconds]

Runs a gateway with 64 clients and a REST service that returns faults of every kind; some clients
disconnect early. Fails if a request gets no response, memory grows, or a socket or timer leaks.
The run takes the given number of seconds (default: 60).
`;
if (process.argv.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
const seconds = Number(process.argv[2] ?? 60);
const clients = 64;
const timeoutMs = 1000;

const pets = encodeResponse('200 OK', '[{"id":9223372036854775807,"name":"Rex","categoryId":2}]');
const faults: readonly Respond[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  () => {},
  (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n['),
  (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n['),
  (socket) => socket.write('garbage\r\n\r\n'),
  (socket) => socket.write(encodeResponse('503 Busy', '{}')),
  (socket) => socket.write(encodeResponse('401 No', '{"code":"no","message":"No.","status":401}')),
  (socket) => socket.write(encodeResponse('200 OK', 'x'.repeat(1_000_000))),
  (socket) => socket.write(encodeResponse('200 OK', '[{"id":"1"}]')),
  drip,
];
/** Most responses are correct: constant failures would only test the circuit breaker. */
const respond: Respond = (socket, attempt, request) => {
  const fault = Math.random() < 0.3 ? pick(faults) : undefined;
  if (fault) fault(socket, attempt, request);
  else socket.write(pets);
};

const operations = [
  '{ pets { id name } }',
  '{ a: pets(limit: 3) { id } b: pets(status: sold) { id } orders pet(id: 1) { id } }',
  'mutation { addPet(input: { name: "Rex", categoryId: 9223372036854775807 }) { id } }',
  '{ pets(limit: 0) { id } }',
  `{ ${'orders '.repeat(2000)} }`,
  '{ nope',
];

await using upstream = await startFaultServer(respond);
const gateway = fork(fileURLToPath(new URL('soak-gateway.ts', import.meta.url)), {
  execArgv: ['--expose-gc'],
  env: {
    PORT: '0',
    NODE_ENV: 'production',
    PETSTORE_BASE_URL: `${upstream.url}/v1`,
    UPSTREAM_TIMEOUT_MS: String(timeoutMs),
  },
});
const [{ url }] = (await once(gateway, 'message')) as [{ url: string }];
const before = await inspect();

const agent = new Agent({ connections: clients });
const counts = { answered: 0, disconnected: 0, unanswered: 0 };
const end = performance.now() + seconds * 1000;
const load = Promise.all(Array.from({ length: clients }, client));
await wait(Math.min(10, seconds / 4) * 1000);
const early = await inspect();
const progress = setInterval(() => void inspect().then(report), 5000);
await load;
clearInterval(progress);
const late = await inspect();
await agent.close();
// Calls in flight end at their deadline; undici closes idle connections after four seconds.
await wait(timeoutMs + 6000);
const after = await inspect();
gateway.send('stop');
await once(gateway, 'exit');

report(after);
const growth = late.rss / early.rss - 1;
const verdicts = [
  [`${counts.unanswered} requests without a response`, counts.unanswered === 0],
  [
    `memory: ${mb(early.rss)} after the first seconds, ${mb(late.rss)} at the end (growth ${(growth * 100).toFixed(1)} %)`,
    growth <= 0.2,
  ],
  [
    `active resources: ${JSON.stringify(before.resources)} before, ${JSON.stringify(after.resources)} after`,
    total(after.resources) <= total(before.resources),
  ],
] as const;
for (const [text, passed] of verdicts) {
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${text}\n`);
}
process.exit(verdicts.every(([, passed]) => passed) ? 0 : 1);

async function client(): Promise<void> {
  while (performance.now() < end) {
    const disconnects = Math.random() < 0.05;
    const signal = AbortSignal.timeout(disconnects ? 20 : timeoutMs * 4 + 5000);
    try {
      const response = await request(`${url}/graphql`, {
        dispatcher: agent,
        method: 'POST',
        headers: { authorization: 'Bearer soak-key', 'content-type': 'application/json' },
        body: JSON.stringify({ query: pick(operations) }),
        signal,
      });
      await response.body.json();
      counts.answered++;
    } catch {
      if (disconnects) counts.disconnected++;
      else counts.unanswered++;
    }
  }
}

interface Inspection {
  readonly rss: number;
  readonly heapUsed: number;
  readonly resources: Record<string, number>;
}

async function inspect(): Promise<Inspection> {
  gateway.send('inspect');
  const [message] = await once(gateway, 'message');
  return message as Inspection;
}

function report({ rss, heapUsed }: Inspection): void {
  const remaining = Math.max(0, (end - performance.now()) / 1000);
  process.stdout.write(
    `${counts.answered} responses, ${counts.disconnected} early disconnects, ${counts.unanswered} requests without a response; ${mb(rss)} resident, ${mb(heapUsed)} heap; ${remaining.toFixed(0)} s left\n`,
  );
}

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n');
  const timer = setInterval(() => socket.write('1\r\n \r\n'), 50);
  socket.once('close', () => clearInterval(timer));
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

function total(resources: Record<string, number>): number {
  return Object.values(resources).reduce((sum, count) => sum + count, 0);
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
