import { expect } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { writeKeyOf } from '../../src/contract/idempotency.ts';
import { openPetStore } from '../../src/petstore/open.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import type { NewPet } from '../../src/petstore/records.ts';
import type { Scope } from '../../src/request/scope.ts';
import { callWith, openKeys } from './gateway.ts';
import { openTelemetry } from './log.ts';

/** The pet that writes add unless a test needs another one. */
export const rex: NewPet = { name: 'Rex', categoryId: '1' };

/** Adds a pet, with an `Idempotency-Key` if there is one. */
export function addPet(
  petStore: Pick<PetStore<Scope>, 'createPet'>,
  idempotencyKey: string | undefined,
  caller = callWith(),
  pet = rex,
) {
  const write = writeKeyOf({ idempotencyKey }, 'addPet', 'createPet', pet);
  return petStore.createPet(caller, pet, write);
}

/** Opens the pet store of a gateway with this environment, before the REST service at a URL. */
export async function openWriter(url: string, env: Readonly<Record<string, string>> = {}) {
  const telemetry = openTelemetry();
  const keys = openKeys();
  const { backend } = loadConfig({ PETSTORE_BASE_URL: `${url}/v1`, ...env });
  const petStore = await openPetStore(backend, telemetry, keys);
  const dispose = () => petStore[Symbol.asyncDispose]();
  return {
    ...telemetry,
    petStore,
    keys,
    add: (key: string | undefined, caller?: Scope, pet?: NewPet) =>
      addPet(petStore, key, caller, pet),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Resolves to the error of what must fail. */
export const fail = (work: unknown) =>
  Promise.resolve(work).then(
    () => expect.unreachable(),
    (error: Error) => error,
  );

/** A service that does not honour `Idempotency-Key`, for writes that are remembered in front of it. */
const forgetfulService = { url: 'http://service/v1', carriesKey: false };

/** Both services of the contract, neither of which honours `Idempotency-Key`. */
export const forgetful = { pets: forgetfulService, messages: forgetfulService };
