/** Thrown while an operation is compiled: only the fallback executor executes it as it should be. */
export class NotCompilable extends Error {
  override readonly name = 'NotCompilable';
}

/**
 * Thrown while a compiled operation is executed, by a value that compiled code does not complete: a
 * function, a promise, a list that is not an array. The fallback executor completes it.
 */
export class UnforeseenValue extends Error {
  override readonly name = 'UnforeseenValue';
}
