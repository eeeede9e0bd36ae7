import { useQuery } from '@apollo/client/react';
import { ListOrdersDocument } from 'petstore-gateway-client';
import { Problem } from './problem.tsx';

/** How many orders the store has. Their shape is not published, so they are counted only. */
export function Orders() {
  const { data, error, loading, refetch } = useQuery(ListOrdersDocument);
  const number = Array.isArray(data?.orders) ? data.orders.length : undefined;
  return (
    <section className="panel" aria-labelledby="orders">
      <div className="figure" aria-busy={loading}>
        <h2 id="orders">Orders</h2>
        <span>{number}</span>
      </div>
      {error && <Problem error={error} retry={() => refetch()} />}
    </section>
  );
}
