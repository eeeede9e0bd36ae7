import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { firstValueFrom, Observable, ReplaySubject, skip } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { DeferredStorefrontDocument } from '../../packages/client/src/index.ts';
import { withoutOrders } from '../support/faulty-pet-stores.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { holdingOrders } from '../support/parts.ts';

/** One result of a client. */
interface Shown {
  readonly data: object | undefined;
  readonly codes: readonly unknown[];
  readonly isComplete: boolean;
}

type Watch = (url: string) => Observable<Shown>;

const headers = { authorization: 'Bearer demo-key' };
const codeOf = (error: { readonly extensions?: object }) => error.extensions?.['code' as never];

/**
 * Creates an Apollo Client with this incremental handler. The types of `GraphQL17Alpha9Handler` do
 * not compile with `exactOptionalPropertyTypes`.
 */
function apollo(Handler: new () => unknown): Watch {
  return (url) => {
    const client = new ApolloClient({
      link: new HttpLink({ uri: `${url}/graphql`, headers }),
      cache: new InMemoryCache(),
      incrementalHandler: new Handler() as Defer20220824Handler,
    });
    const options = { query: DeferredStorefrontDocument, errorPolicy: 'all' as const };
    return new Observable((subscriber) =>
      client.watchQuery(options).subscribe(({ data, error, loading, dataState }) => {
        if (data === undefined) return;
        const errors =
          error && 'errors' in error ? (error.errors as { extensions?: object }[]) : [];
        const isComplete = !loading && dataState !== 'streaming';
        subscriber.next({ data, codes: errors.map(codeOf), isComplete });
      }),
    );
  };
}

const urql: Watch = (url) => {
  const client = new Client({
    url: `${url}/graphql`,
    fetchOptions: { headers },
    exchanges: [cacheExchange, fetchExchange],
  });
  return new Observable((subscriber) => {
    const { unsubscribe } = client
      .query(DeferredStorefrontDocument, {})
      .subscribe(({ data, error, hasNext }) => {
        const codes = (error?.graphQLErrors ?? []).map(codeOf);
        subscriber.next({ data, codes, isComplete: !hasNext });
      });
    return unsubscribe;
  });
};

describe.each<[string, Watch]>([
  ['Apollo Client, in the format of graphql-js 17,', apollo(GraphQL17Alpha9Handler)],
  ['Apollo Client, in the format of August 2022,', apollo(Defer20220824Handler)],
  ['urql', urql],
])('%s', (_, watch) => {
  it('shows the animals before the orders arrive, then their typed error', async () => {
    const { petStore, release } = holdingOrders(withoutOrders(await openBuiltin()));
    await using service = await startGateway({ petStore });
    const shown = new ReplaySubject<Shown>();
    const subscription = watch(service.url).subscribe(shown);
    const first = await firstValueFrom(shown);
    expect(first.data).toMatchObject({ pets: [{ name: 'Biscuit' }, {}, {}] });
    expect(first.data).not.toHaveProperty('orders');
    expect(first.isComplete).toBe(false);
    release();
    expect(await firstValueFrom(shown.pipe(skip(1)))).toMatchObject({
      data: { pets: [{ name: 'Biscuit' }, {}, {}], orders: null },
      codes: ['UPSTREAM_ERROR'],
      isComplete: true,
    });
    subscription.unsubscribe();
  });
});
