import type { FragmentType } from '@apollo/client';
import { useFragment } from '@apollo/client/react';
import type { CSSProperties } from 'react';
import { graphql } from './graphql/gql.ts';
import type { PetCardFragment } from './graphql/graphql.ts';

const PetCardFragmentDocument = graphql(`
  fragment PetCard on Pet {
    id
    name
    categoryId
    status
  }
`);

/** The id of a pet that has not been saved. */
export const unsavedId = 'unsaved';

/** One pet. The list passes a masked object, whose fields only this component can read. */
export function PetCard({ pet }: { readonly pet: FragmentType<PetCardFragment> }) {
  const { data, complete } = useFragment({ fragment: PetCardFragmentDocument, from: pet });
  if (!complete) return null;
  const { id, name, categoryId, status } = data;
  const isSaved = id !== unsavedId;
  return (
    <li className="card" aria-busy={!isSaved}>
      <span
        className="avatar"
        style={{ '--hue': hueOf(categoryId) } as CSSProperties}
        aria-hidden="true"
      >
        {Array.from(name)[0]}
      </span>
      <div className="card-text">
        <h2>{name}</h2>
        <p>
          Category <span className="number">{categoryId}</span>
        </p>
      </div>
      <div className="card-foot">
        <span className="badge" data-status={status ?? 'none'}>
          {status ?? 'No status'}
        </span>
        <span className="number">{isSaved ? `#${id}` : 'Saving …'}</span>
      </div>
    </li>
  );
}

/** The hue of a category. Uses the last digits, because a number cannot hold a long id exactly. */
function hueOf(categoryId: string): number {
  return (Number(categoryId.slice(-6)) * 67 + 150) % 360;
}
