import { cacheLife } from 'next/cache';
import { connection } from 'next/server';
import { ListPetsDocument } from 'petstore-gateway/client';
import { Suspense } from 'react';
import { gateway } from '../../lib/gateway';

export default function Page() {
  return (
    <Suspense fallback={<p>Loading…</p>}>
      <Featured />
    </Suspense>
  );
}

async function Featured() {
  await connection();
  return <p>Featured: {(await readNames()).join(', ')}</p>;
}

/** Reads what all visitors may see, with the application's own key. */
async function readNames() {
  'use cache';
  cacheLife('minutes');
  const { data, errors } = await gateway.execute(
    ListPetsDocument,
    { limit: 3, status: 'available' },
    { authorization: `Bearer ${process.env.PETSTORE_API_KEY}` },
  );
  // Next does not cache a function that throws.
  if (errors) throw new Error(errors[0]?.message);
  return data?.pets?.map(({ name }) => name) ?? [];
}
