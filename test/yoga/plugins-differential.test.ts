import { useMaskedErrors } from '@envelop/core';
import { useDepthLimit } from '@envelop/depth-limit';
import { useGenericAuth } from '@envelop/generic-auth';
import { useOnResolve } from '@envelop/on-resolve';
import { usePrometheus } from '@envelop/prometheus';
import { useRateLimiter } from '@envelop/rate-limiter';
import { type Cache, useResponseCache } from '@envelop/response-cache';
import fc from 'fast-check';
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type ValidationContext,
  visit,
} from 'graphql';
import { createYoga, isAsyncIterable, type Plugin, useExtendContext } from 'graphql-yoga';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createGateway, loadConfig, type PetStoreContext, usePetStore } from '../../src/schema.ts';
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { openTelemetry } from '../support/log.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { buildSchema } from '../support/yoga.ts';

/** What hooks read of a context, here and in Yoga. */
interface Shown extends PetStoreContext {
  readonly request: Request;
}
const callerOf = (context: unknown) =>
  (context as Shown).request.headers.get('authorization') ?? 'nobody';

/** A cache that keeps what `JSON.stringify` writes, as one in Redis does. */
function jsonCache(): Cache {
  const texts = new Map<string, string>();
  return {
    get: (id) => JSON.parse(texts.get(id) ?? 'null') ?? undefined,
    set: (id, result) => void texts.set(id, JSON.stringify(result)),
    invalidate: () => texts.clear(),
  };
}

/** Replaces the document of an execution: without `orders` for nobody, and with `__typename` everywhere. */
const rewrite = (document: DocumentNode, caller: string): DocumentNode =>
  visit(document, {
    Field: (node) => (node.name.value === 'orders' && caller === 'nobody' ? null : undefined),
    SelectionSet: {
      leave: ({ selections, ...node }) => ({
        ...node,
        selections: [
          ...selections,
          {
            kind: Kind.FIELD,
            name: { kind: Kind.NAME, value: '__typename' },
            alias: { kind: Kind.NAME, value: 'kind' },
          } as const,
        ],
      }),
    },
  });

const formatted = (result: ExecutionResult): ExecutionResult => ({
  ...result,
  extensions: { fields: Object.keys(result.data ?? {}), text: JSON.stringify(result.data) },
});

const resolveUserFn = (context: unknown) =>
  callerOf(context) === 'Bearer a-key' ? { name: 'a' } : null;

/** Gives a plugin of this test the types of Yoga. */
const own = (plugin: Plugin): object => plugin;

/** Plugins that others wrote, and the kinds of hooks that they write. */
const plugins: Readonly<Record<string, () => (object | false | null | undefined)[]>> = {
  'no plugin': () => [],
  'generic-auth, protect-all': () => [useGenericAuth({ mode: 'protect-all', resolveUserFn })],
  'generic-auth, granular': () => [
    useGenericAuth({
      mode: 'protect-granular',
      rejectUnauthenticated: false,
      resolveUserFn,
      validateUser: ({ user, fieldNode }) =>
        !user && /^(?:addPet|orders|categoryId)$/.test(fieldNode.name.value)
          ? new GraphQLError('No.', { extensions: { code: 'REFUSED' } })
          : undefined,
    }),
  ],
  'response-cache': () => [useResponseCache({ session: callerOf })],
  'response-cache, private fields': () => [
    useResponseCache({
      session: (context) => (callerOf(context) === 'nobody' ? null : callerOf(context)),
      scopePerSchemaCoordinate: { 'Query.orders': 'PRIVATE' },
      ttlPerType: { Pet: 60_000 },
      ttl: 0,
    }),
  ],
  'response-cache of JSON': () => [useResponseCache({ session: callerOf, cache: jsonCache() })],
  'rate-limiter': () => [
    useRateLimiter({
      identifyFn: (context) => callerOf(context),
      configByField: [{ type: 'Query', field: 'orders', max: 1, window: '1h' }],
      interpolateMessage: () => 'Too often.',
    } as Parameters<typeof useRateLimiter>[0]),
  ],
  'masked-errors': () => [useMaskedErrors()],
  'extended context': () => [
    useExtendContext(() => ({ operation: 1, report: 2, scope: 3, delivery: 4, prepared: 5 })),
  ],
  'depth-limit': () => [useDepthLimit({ maxDepth: 1 })],
  prometheus: () => [
    usePrometheus({
      metrics: { graphql_envelop_phase_execute: true, graphql_envelop_request: true },
      labels: { operationName: true },
      registry: new Registry(),
    }),
  ],
  // Not of a package: those for tracing and for types of operations are not for graphql 17.
  'tracing of resolvers': () => [
    useOnResolve(({ context, info }) => {
      const { traced } = context as { traced?: string[] };
      return () => void traced?.push(String(info.path.key));
    }),
    own({
      onExecute({ args, extendContext }) {
        const traced: string[] = [];
        extendContext({ traced } as object);
        Object.assign(args.contextValue as object, { traced });
        return {
          onExecuteDone: ({ result, setResult }) =>
            isAsyncIterable(result)
              ? undefined
              : setResult({ ...result, extensions: { traced: traced.sort() } }),
        };
      },
    }),
  ],
  'a filter of operations': () => [
    own({
      onValidate({ addValidationRule }) {
        addValidationRule((context: ValidationContext) => ({
          OperationDefinition(node: OperationDefinitionNode) {
            if (node.operation === 'query') return;
            const extensions = { code: 'FILTERED' };
            context.reportError(new GraphQLError('Only queries.', { nodes: node, extensions }));
          },
        }));
      },
    }),
  ],
  'payload formatter': () => [
    own({
      onExecute: () => ({
        onExecuteDone: ({ result, setResult }) =>
          isAsyncIterable(result) ? undefined : setResult(formatted(result)),
      }),
    }),
  ],
  'a document that is set': () => [
    own({
      onExecute({ args }) {
        args.document = rewrite(args.document, callerOf(args.contextValue));
      },
    }),
  ],
  'a document that is passed': () => [
    own({
      onExecute({ executeFn, setExecuteFn }) {
        setExecuteFn((args) => {
          const document = rewrite(args.document, callerOf(args.contextValue));
          return executeFn({ ...args, document });
        });
      },
    }),
  ],
  'a document that is parsed': () => [
    own({
      onParse:
        ({ context }) =>
        ({ result, replaceParseResult }) => {
          if ('kind' in result) replaceParseResult(rewrite(result, callerOf(context)));
        },
    }),
  ],
  'a text that is changed': () => [
    own({
      onParse({ parseFn, setParseFn, context }) {
        const caller = callerOf(context);
        setParseFn((source, options) =>
          parseFn(caller === 'nobody' ? '{ __typename }' : source, options),
        );
      },
    }),
  ],
  'a log of clones': () => [
    own({
      onExecute: ({ args }) => {
        JSON.stringify([args.variableValues, (args.contextValue as { params: unknown }).params]);
        return {
          onExecuteDone: ({ result }) => void structuredClone((result as ExecutionResult).data),
        };
      },
    }),
  ],
  'results that end an operation': () => [
    own({
      onExecute({ args, setResultAndStopExecution }) {
        if (callerOf(args.contextValue) !== 'nobody') return;
        const error = new GraphQLError('Stop.', {
          extensions: { code: 'STOP', http: { status: 418 } },
        });
        setResultAndStopExecution({ errors: [error] });
      },
    }),
  ],
  'disabled plugins': () => [undefined, false, null],
};

const pets = [1, 2, 3].map((id) => ({ id, name: `p${id}`, categoryId: id, status: 'sold' }));

/** A service whose responses depend on the request alone. */
const startService = () =>
  startUpstream(({ method, url, headers }, response) => {
    const { authorization } = headers;
    if (authorization === 'Bearer refused') {
      return sendJson(response, 401, '{"code":"no","message":"No.","status":401}');
    }
    if (method === 'POST') return sendJson(response, 201, JSON.stringify(pets[0]));
    if (url === '/v1/store/orders') {
      return sendJson(response, 200, `[{"id":9007199254740993,"of":"${authorization}"}]`);
    }
    if (url === '/v1/pets/404') {
      return sendJson(response, 404, '{"code":"none","message":"None.","status":404}');
    }
    // One list is the text of JSON.stringify, the other is not.
    const spaces = url.includes('limit=2') ? 1 : 0;
    return sendJson(
      response,
      200,
      JSON.stringify(url.includes('/pets/') ? pets[0] : pets, null, spaces),
    );
  });

const leaf = fc.constantFrom('id', 'name', 'categoryId', 'status', 'x: id', '__typename');
const set = fc
  .uniqueArray(leaf, { minLength: 1, maxLength: 4 })
  .map((names) => `{ ${names.join(' ')} }`);
const read = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'pets',
        'pets(limit: 2)',
        'b: pets(limit: $limit)',
        'pet(id: 7)',
        'pet(id: $id)',
        'm: pet(id: 404)',
      ),
      set,
    )
    .map((parts) => parts.join(' ')),
  fc.constantFrom('orders', 'o: orders', '__typename'),
);
const write = fc
  .tuple(
    fc.constantFrom('addPet(input: { name: "a", categoryId: $id })', 'c: addPet(input: $input)'),
    set,
  )
  .map((parts) => parts.join(' '));
const fields = (one: fc.Arbitrary<string>) =>
  fc.uniqueArray(one, { minLength: 1, maxLength: 3, selector: (text) => /^\w+/.exec(text)?.[0] });
const variables = 'Q($limit: Int, $id: ID = "7", $input: AddPetInput)';
const query = fc
  .oneof(
    { weight: 3, arbitrary: fields(read).map((texts) => ['query', texts] as const) },
    { weight: 1, arbitrary: fields(write).map((texts) => ['mutation', texts] as const) },
  )
  .map(([kind, texts]) => {
    const body = texts.join(' ');
    // Unused variables are invalid.
    const used = [...variables.matchAll(/\$(\w+): [^,)]+/g)]
      .filter(([, name]) => body.includes(`$${name}`))
      .map(([text]) =>
        text.replace('ID = "7"', 'ID! = "7"').replace('AddPetInput', 'AddPetInput!'),
      );
    return `${kind} Q${used.length > 0 ? `(${used.join(', ')})` : ''} { ${body} }`;
  });
const request = fc.record({
  query,
  variables: fc.record({
    limit: fc.constantFrom<unknown>(1, 2, null, 0),
    id: fc.constantFrom('7', '9007199254740993', 404, 'x'),
    input: fc.constantFrom(
      { name: 'n', categoryId: 5 },
      { name: 'n', categoryId: '9007199254740993' },
    ),
  }),
});
const callers = [undefined, 'Bearer a-key', 'Bearer b-key', 'Bearer refused'];
const cases = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 2 }),
  order: fc.array(fc.tuple(fc.nat(1), fc.constantFrom(...callers)), { minLength: 2, maxLength: 4 }),
});

/** Differences that are meant, each with its reason. */
function withoutMeant(code: unknown): unknown {
  // Each error of the gateway has a code, also one that a plugin or graphql-js gives none.
  return /^(?:BAD_USER_INPUT|INTERNAL_SERVER_ERROR)$/.test(String(code)) ? undefined : code;
}

async function openBoth(name: string) {
  const service = await startService();
  const env = { PETSTORE_BASE_URL: `${service.url}/v1`, LOG_LEVEL: 'silent' };
  const { log } = openTelemetry();
  const create = plugins[name] ?? (() => []);
  const gateway = await createGateway(loadConfig(env), { log, plugins: create() });
  const yoga = createYoga({
    schema: buildSchema(),
    logging: false,
    // It keeps what a plugin has made of a document for one caller, and gives it to others.
    parserAndValidationCache: false,
    plugins: [await usePetStore(loadConfig(env)), ...(create() as Plugin[])],
  });
  const send = async (
    serve: (request: Request) => Response | Promise<Response>,
    body: object,
    authorization?: string,
  ) => {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const from = service.seen.length;
    const response = await serve(new Request('http://host/graphql', init));
    const text = await response.text();
    // In a gateway without hooks, a large integer of `orders` is a number.
    const { data, errors = [], extensions } = JSON.parse(text.replace(/:(\d{16,})/g, ':"$1"'));
    // The gateway adds the deprecated fields.
    if (extensions) delete extensions.deprecations;
    const described = errors.map(
      (error: GraphQLError) => `${error.path} ${withoutMeant(error.extensions?.['code'])}`,
    );
    const calls = service.seen
      .slice(from)
      .map(
        ({ method, url, headers, body: sent }) =>
          `${method} ${url} ${headers.authorization} ${sent}`,
      );
    return {
      status: response.status,
      data,
      errors: described.sort(),
      extensions: extensions && Object.keys(extensions).length > 0 ? extensions : undefined,
      calls: calls.sort(),
    };
  };
  return {
    gateway: (body: object, caller?: string) => send(gateway, body, caller),
    yoga: (body: object, caller?: string) => send((one) => yoga.fetch(one), body, caller),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await yoga.dispose();
      await service[Symbol.asyncDispose]();
    },
  };
}

it.each(Object.keys(plugins))(
  'does the same in the gateway and in a Yoga server: %s',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ requests, order }) => {
        await using both = await openBoth(name);
        for (const [index, caller] of order) {
          const body = requests[index % requests.length] as object;
          // The first, second and third execution of a document differ: it is parsed, compiled and known.
          for (let times = 1; times <= 3; times++) {
            expect(
              await both.gateway(body, caller),
              `${times}: ${JSON.stringify(body)} ${caller}`,
            ).toEqual(await both.yoga(body, caller));
          }
        }
      }),
      fuzzed(6),
    );
  },
  fuzzTimeout,
);
