/** Decides, before anything is spent on a request, whether it is taken in. */
export interface Admission {
  /**
   * Takes a request in, with the `Authorization` header as it arrived; each needs one `leave` with the
   * same. @throws HttpError for one that is turned away.
   */
  enter(authorization?: string): void;
  leave(authorization?: string): void;
}
