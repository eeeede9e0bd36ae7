import { Problem } from './problem.tsx';

interface OrdersProps {
  /** Their shape is not published, so they are counted only; undefined until they have come. */
  readonly orders: unknown;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/** How many orders the store has. */
export function Orders({ orders, isLoading, error, retry }: OrdersProps) {
  return (
    <section className="panel" aria-labelledby="orders">
      <div className="figure" aria-busy={isLoading}>
        <h2 id="orders">Orders</h2>
        <span>{Array.isArray(orders) ? orders.length : undefined}</span>
      </div>
      {error !== undefined && <Problem error={error} retry={retry} />}
    </section>
  );
}
