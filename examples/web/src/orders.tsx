import { Problem } from './problem.tsx';

interface OrdersProps {
  /** Only counted, because their shape is not published. Undefined until they arrive. */
  readonly orders: unknown;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/** The number of orders in the store. */
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
