/** Labels the first `max` values as they are, others as `other`, and a missing one as `absent`. */
export function createLabels(max: number, absent: string) {
  const values = new Set<string>();
  /** Returns the label of a value; without `admits`, a new value does not get its own. */
  return (value: string | undefined, admits = true): string => {
    if (value === undefined) return absent;
    if (admits && values.size < max) values.add(value);
    return values.has(value) ? value : 'other';
  };
}
