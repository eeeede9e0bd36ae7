/**
 * Creates labels for values that clients choose: the first `max` values get their own, all others share
 * the label `other`. A missing value has the label `absent`.
 */
export function createLabels(max: number, absent: string) {
  const values = new Set<string>();
  /** Returns the label of a value; without `admits`, a new value does not get its own. */
  return (value: string | undefined, admits = true): string => {
    if (value === undefined) return absent;
    if (admits && values.size < max) values.add(value);
    return values.has(value) ? value : 'other';
  };
}
