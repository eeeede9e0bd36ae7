import { useMutation } from '@apollo/client/react';
import {
  AddPetDocument,
  type AddPetInput,
  createIdempotencyKey,
  type PetStatus,
} from 'petstore-gateway-client';
import { type FormEvent, useRef, useState } from 'react';
import { Field } from './field.tsx';
import { inputIssues } from './input-issues.ts';
import { InventoryDocument, pageSize, statuses } from './inventory.tsx';
import { unsavedId } from './pet-card.tsx';
import { Problem } from './problem.tsx';
import { outcomeOf } from './write-outcome.ts';

/** What the form was sent with, until the pet is added. */
interface Submission {
  readonly input: AddPetInput;
  /** The same for each attempt. */
  readonly key: string;
}

/**
 * Adds a pet. Its card appears immediately, and is removed if the gateway rejects it. If it may have
 * been added nevertheless, the list is loaded again, and it can be sent again: until its values change, a
 * pet has a key with which it is added once.
 */
export function AddPet({ reload }: { readonly reload: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const [added, setAdded] = useState('');
  const [submitted, setSubmitted] = useState<Submission>();
  const [addPet, { loading, error }] = useMutation(AddPetDocument, {
    // Returns the error to the form instead of throwing it from addPet.
    errorPolicy: 'all',
    optimisticResponse: ({ input }) => ({
      __typename: 'Mutation' as const,
      addPet: {
        __typename: 'Pet' as const,
        id: unsavedId,
        name: input.name,
        categoryId: String(input.categoryId),
        status: input.status ?? null,
      },
    }),
    update(cache, { data }) {
      const pet = data?.addPet;
      if (!pet) return;
      // Adds it to the cached lists of all pets and of its status.
      for (const status of new Set([null, pet.status])) {
        cache.updateQuery({ query: InventoryDocument, variables: { status } }, (list) =>
          list?.pets && list.pets.length < pageSize && list.pets.every(({ id }) => id !== pet.id)
            ? { ...list, pets: [...list.pets, pet] }
            : list,
        );
      }
    },
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const name = String(fields.get('name'));
    const status = (String(fields.get('status')) || null) as PetStatus | null;
    // Keep ids as text: a number would lose digits.
    const input = { name, categoryId: String(fields.get('categoryId')).trim(), status };
    const isSame = JSON.stringify(input) === JSON.stringify(submitted?.input);
    const submission = isSame && submitted ? submitted : { input, key: createIdempotencyKey() };
    setSubmitted(submission);
    return send(submission);
  }

  async function send({ input, key }: Submission) {
    setAdded('');
    const context = { headers: { 'idempotency-key': key } };
    const { data, error } = await addPet({ variables: { input }, context });
    if (error && outcomeOf(error) !== 'NOT_DONE') reload();
    if (!data?.addPet) return;
    setSubmitted(undefined);
    setAdded(`${data.addPet.name} was added as #${data.addPet.id}.`);
    form.current?.reset();
  }

  const issues = inputIssues(error);
  return (
    // The gateway finds all problems at once; the browser shows one at a time.
    <form className="panel" id="add" ref={form} onSubmit={submit} noValidate>
      <h2>Add a pet</h2>
      <Field label="Name" name="name" issue={issues.get('name')}>
        {(attributes) => <input {...attributes} required autoComplete="off" />}
      </Field>
      <Field
        label="Category"
        name="categoryId"
        hint="A number of up to 19 digits."
        issue={issues.get('categoryId')}
      >
        {(attributes) => <input {...attributes} required inputMode="numeric" autoComplete="off" />}
      </Field>
      <Field label="Status" name="status" issue={issues.get('status')}>
        {(attributes) => (
          <select {...attributes}>
            <option value="">none</option>
            {statuses.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        )}
      </Field>
      {error && issues.size === 0 && (
        <Problem error={error} isWrite retry={() => submitted && send(submitted)} />
      )}
      <button className="button" type="submit" disabled={loading}>
        {loading ? 'Adding …' : 'Add'}
      </button>
      <p className="done" role="status">
        {added}
      </p>
    </form>
  );
}
