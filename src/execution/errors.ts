/** An operation cannot be compiled, so the fallback executor has to execute it. */
export class NotCompilableError extends Error {}

/**
 * Compiled code cannot complete a value: a function, a promise, or a list that is not an array. The
 * fallback executor has to complete it.
 */
export class UnsupportedValueError extends Error {}
