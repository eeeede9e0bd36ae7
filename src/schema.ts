import './node-version.ts';
import type { Plugin } from 'graphql-yoga';
import { type Config, warnOfUnknown } from './config/config.ts';
import { type Gateway, type GatewayConfig, openMounted } from './mounted.ts';
import { PetStoreCalls, type PetStoreContext } from './petstore/graphql/calls.ts';
import { createSchema, type ExtendSchema, schema } from './petstore/graphql/schema.ts';
import { openPetStore } from './petstore/open.ts';
import { createEnvironment } from './request/scope.ts';
import { createLog, type Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';
import type { HostContext } from './yoga/host-context.ts';
import { usePetStoreCalls } from './yoga/use-pet-store.ts';

export { type Config, ConfigError, loadConfig } from './config/config.ts';
export { ErrorResponse } from './contract/error.ts';
export type { PathParameters, RestCalls } from './graphql/rest-calls.ts';
export { addPetStore, type PetStoreRefs } from './petstore/graphql/add-pet-store.ts';
export type { PetStoreContext } from './petstore/graphql/calls.ts';
export type { ExtendSchema, Gateway, GatewayConfig };

/** What a host adds to a gateway. */
export interface HostOptions {
  /** Adds fields and types to the schema. */
  readonly extend?: ExtendSchema;
  /** Plugins of Envelop and Yoga: their hooks on documents, context, execution and results run. */
  readonly plugins?: readonly (
    | Plugin<HostContext & PetStoreContext>
    | object
    | false
    | null
    | undefined
  )[];
  /** By default, log lines go to stderr. */
  readonly log?: Log;
}

/**
 * Opens a gateway as `createGateway` of `petstore-gateway` does, with what a host adds. It shares
 * `graphql` and `graphql-yoga` with the host.
 * @throws ConfigError if `config` lacks a setting; other errors if the backend or manifest can't be opened
 */
export function createGateway(
  config: GatewayConfig,
  { extend, plugins, log }: HostOptions = {},
): Promise<Gateway & AsyncDisposable> {
  // Plugins may replace the resolvers of the schema.
  return openMounted(config, { plugins, schema: createSchema(extend) }, log);
}

/**
 * Opens the backend, and returns the plugin for a Yoga server of your own with the types of
 * `addPetStore`: it sets `context.petStore`, types the errors of its calls, and closes the backend with
 * the server (`yoga.dispose()`).
 * @throws if the backend can't be opened.
 */
export async function usePetStore(config: Config): Promise<Plugin<PetStoreContext>> {
  const log = createLog(config.logLevel, process.stderr);
  warnOfUnknown(config, log);
  const tracing = await openTracing(config.tracesUrl, log, config);
  const telemetry = { log, metrics: new Metrics(), tracing };
  const contract = { schema, Calls: PetStoreCalls };
  const environment = createEnvironment(telemetry);
  const petStore = await openPetStore(config.backend, telemetry, environment.keys);
  return {
    ...usePetStoreCalls<PetStoreContext>(contract, petStore, environment, config),
    async onDispose() {
      await Promise.all([petStore, tracing].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}
