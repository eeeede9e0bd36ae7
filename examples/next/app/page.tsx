import { connection } from 'next/server';
import { isGatewayError, StorefrontDocument } from 'petstore-gateway/client';
import { Suspense } from 'react';
import { gateway } from '../lib/gateway';
import { Pets } from './pets';

export default function Page() {
  return (
    <>
      <section>
        <h2>Rendered on the server</h2>
        <Suspense fallback={<p>Loading…</p>}>
          <Storefront />
        </Suspense>
      </section>
      <Pets />
    </>
  );
}

async function Storefront() {
  // Renders per request, so that `next build` does not open the gateway.
  await connection();
  const { data, errors = [] } = await gateway.execute(
    StorefrontDocument,
    { limit: 3 },
    {
      authorization: `Bearer ${process.env.PETSTORE_API_KEY}`,
      signal: AbortSignal.timeout(2000),
    },
  );
  return (
    <>
      <p>Available: {data?.available?.map(({ name }) => name).join(', ')}</p>
      <p>Pending: {data?.pending?.map(({ name }) => name).join(', ')}</p>
      {errors.map((error) => (
        <p role="alert" key={String(error.path)}>
          {isGatewayError(error, 'UNAUTHENTICATED') ? 'Set PETSTORE_API_KEY.' : error.message}
        </p>
      ))}
    </>
  );
}
