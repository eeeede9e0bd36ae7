import type { PetStatus } from 'petstore-gateway-client';
import { graphql } from './graphql/gql.ts';
import type { InventoryQuery } from './graphql/graphql.ts';
import { PetCard } from './pet-card.tsx';
import { Problem } from './problem.tsx';

/** The cached list of pets. Each card selects its fields with a fragment. */
export const InventoryDocument = graphql(`
  query Inventory($status: PetStatus) {
    pets(limit: 100, status: $status) {
      id
      ...PetCard
    }
  }
`);

/** The most pets that a list shows. */
export const pageSize = 100;

/** The statuses that the list can be filtered by. */
export const statuses: readonly PetStatus[] = ['available', 'pending', 'sold'];

interface InventoryProps {
  readonly pets: InventoryQuery['pets'] | undefined;
  readonly isLoading: boolean;
  /** Whether the previous list is shown while another one loads. */
  readonly isStale: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly status: PetStatus | null;
  readonly setStatus: (status: PetStatus | null) => void;
}

/** The filterable list of pets, with its loading, empty and failed states. */
export function Inventory(props: InventoryProps) {
  const { pets, isLoading, isStale, error, retry, status, setStatus } = props;
  return (
    <section aria-labelledby="pets">
      <div className="heading">
        <h1 id="pets">Pets</h1>
        <p role="status">{count(pets?.length, isLoading)}</p>
        <a className="button add-link" href="#add">
          Add a pet
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
      {error !== undefined && <Problem error={error} retry={retry} />}
      {pets ? (
        <ul className="cards" aria-busy={isLoading} data-stale={isStale}>
          {pets.map((pet) => (
            <PetCard key={pet.id} pet={pet} />
          ))}
        </ul>
      ) : (
        isLoading && <Placeholders />
      )}
      {pets?.length === 0 && !isLoading && (
        <p className="empty">There are no {status} pets at the moment.</p>
      )}
    </section>
  );
}

function count(pets: number | undefined, loading: boolean): string {
  if (pets === undefined) return loading ? 'Loading …' : '';
  if (pets === pageSize) return `The first ${pageSize} pets`;
  return pets === 1 ? '1 pet' : `${pets} pets`;
}

/** Empty cards, shown until the first list has loaded. */
function Placeholders() {
  return (
    <ul className="cards" aria-hidden="true">
      {Array.from('123456789', (key) => (
        <li key={key} className="card placeholder" />
      ))}
    </ul>
  );
}
