import { NetworkStatus } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import type { PetStatus } from 'petstore-gateway-client';
import { useState } from 'react';
import { graphql } from './graphql/gql.ts';
import { PetCard } from './pet-card.tsx';
import { Problem } from './problem.tsx';

/** The animals of the store. Each card selects its own fields, by its fragment. */
export const InventoryDocument = graphql(`
  query Inventory($status: PetStatus) {
    pets(limit: 100, status: $status) {
      id
      ...PetCard
    }
  }
`);

/** What the list can be narrowed to. */
export const statuses: readonly PetStatus[] = ['available', 'pending', 'sold'];

/** The filterable list of animals, with its loading, empty and failed states. */
export function Inventory() {
  const [status, setStatus] = useState<PetStatus | null>(null);
  const { data, previousData, error, loading, networkStatus, refetch } = useQuery(
    InventoryDocument,
    {
      variables: { status },
      fetchPolicy: 'cache-and-network',
      // Without 'all', one failed field discards the data of the others.
      errorPolicy: 'all',
    },
  );
  // The last list stays visible, dimmed, while another filter loads.
  const pets = (data ?? (loading ? previousData : undefined))?.pets;
  const isStale = loading && networkStatus !== NetworkStatus.refetch && data === undefined;

  return (
    <section aria-labelledby="animals">
      <div className="heading">
        <h1 id="animals">Animals</h1>
        <p role="status">{count(pets?.length, loading)}</p>
        <a className="button add-link" href="#add">
          Add an animal
        </a>
      </div>
      <fieldset className="filter">
        <legend>Show</legend>
        {[null, ...statuses].map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name="status"
              checked={status === choice}
              onChange={() => setStatus(choice)}
            />
            <span>{choice ?? 'all'}</span>
          </label>
        ))}
      </fieldset>
      {error && <Problem error={error} retry={() => refetch()} />}
      {pets ? (
        <ul className="cards" aria-busy={loading} data-stale={isStale}>
          {pets.map((pet) => (
            <PetCard key={pet.id} pet={pet} />
          ))}
        </ul>
      ) : (
        loading && <Placeholders />
      )}
      {pets?.length === 0 && !loading && (
        <p className="empty">There are no {status} animals at the moment.</p>
      )}
    </section>
  );
}

function count(pets: number | undefined, loading: boolean): string {
  if (pets === undefined) return loading ? 'Loading …' : '';
  return pets === 1 ? '1 animal' : `${pets} animals`;
}

/** The shapes of cards, until the first list is there. */
function Placeholders() {
  return (
    <ul className="cards" aria-hidden="true">
      {Array.from('123456789', (key) => (
        <li key={key} className="card placeholder" />
      ))}
    </ul>
  );
}
