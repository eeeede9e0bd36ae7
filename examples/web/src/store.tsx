import { CombinedGraphQLErrors, NetworkStatus } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import type { PetStatus } from 'petstore-gateway-client';
import { useState } from 'react';
import { AddPet } from './add-pet.tsx';
import { graphql } from './graphql/gql.ts';
import { Inventory } from './inventory.tsx';
import { Orders } from './orders.tsx';

/** Everything on the page, in one request. The pets do not wait for the orders. */
const StoreDocument = graphql(`
  query Store($status: PetStatus) {
    pets(limit: 100, status: $status) {
      id
      ...PetCard
    }
    ... @defer(label: "orders") {
      orders
    }
  }
`);

/** The pets, the form that adds one, and the orders. */
export function Store() {
  const [status, setStatus] = useState<PetStatus | null>(null);
  const { data, previousData, error, loading, networkStatus, refetch } = useQuery(StoreDocument, {
    variables: { status },
    fetchPolicy: 'cache-and-network',
    // Without 'all', one failed field discards the data of the others.
    errorPolicy: 'all',
  });
  const isLoading = loading && networkStatus !== NetworkStatus.streaming;
  const retry = () => refetch();
  return (
    <main className="columns">
      <Inventory
        // The last list stays visible, dimmed, while another filter loads.
        pets={(data ?? (isLoading ? previousData : undefined))?.pets}
        isLoading={isLoading}
        isStale={isLoading && networkStatus !== NetworkStatus.refetch && data === undefined}
        error={selectErrors(error, (field) => field !== 'orders')}
        retry={retry}
        status={status}
        setStatus={setStatus}
      />
      <aside>
        <AddPet reload={retry} />
        <Orders
          orders={data?.orders ?? previousData?.orders}
          isLoading={loading}
          error={selectErrors(error, (field) => field === 'orders')}
          retry={retry}
        />
      </aside>
    </main>
  );
}

/** The errors of the selected root fields. An error without a path counts as one of the pets. */
function selectErrors(error: unknown, isSelected: (field: unknown) => boolean): unknown {
  if (!CombinedGraphQLErrors.is(error)) return isSelected(undefined) ? error : undefined;
  const errors = error.errors.filter(({ path }) => isSelected(path?.[0]));
  return errors.length > 0 ? new CombinedGraphQLErrors({ errors }) : undefined;
}
