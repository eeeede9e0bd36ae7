import type { OriginLimits } from '../../src/backends/rest/origin.ts';
import { owning } from './dispose.ts';
import { type Respond, startFaultServer } from './fault-server.ts';
import { callWith } from './gateway.ts';
import { openTelemetry } from './log.ts';
import { openRest } from './rest-gateway.ts';

/** Opens the REST backend for a service that responds like this, with its log lines. */
export async function startRest(
  respond: Respond,
  limits: Partial<OriginLimits> = {},
  timeoutMs = 60_000,
) {
  const server = await startFaultServer(respond);
  const telemetry = openTelemetry();
  const petStore = openRest(server.url, { timeoutMs, limits }, telemetry);
  return {
    ...server,
    ...telemetry,
    petStore,
    list: async (key?: string, signal?: AbortSignal) => [
      ...(await petStore.listPets(callWith(key, signal), {})),
    ],
    add: (signal?: AbortSignal) =>
      petStore.createPet(callWith('k', signal), { name: 'Rex', categoryId: '1' }),
    ...owning(server, petStore),
  };
}
