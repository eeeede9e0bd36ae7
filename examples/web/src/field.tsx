import type { ReactNode } from 'react';

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly hint?: string;
  /** What is wrong with the value. */
  readonly issue: string | undefined;
  /** Renders the control with these attributes. */
  readonly children: (attributes: object) => ReactNode;
}

/** A control with its label, and below it what is wrong with its value, or else a hint. */
export function Field({ label, name, hint, issue, children }: FieldProps) {
  const note = issue ?? hint;
  const id = `field-${name}`;
  const noteId = `${id}-note`;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {children({
          id,
          name,
          'aria-invalid': issue !== undefined,
          'aria-describedby': note && noteId,
        })}
      </label>
      {note && (
        <small id={noteId} className={issue && 'issue'} role={issue && 'alert'}>
          {note}
        </small>
      )}
    </div>
  );
}
