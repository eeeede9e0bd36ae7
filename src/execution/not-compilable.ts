/** An operation that only the reference executor answers exactly. */
export class NotCompilable extends Error {
  override readonly name = 'NotCompilable';
}
