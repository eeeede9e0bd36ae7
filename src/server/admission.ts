/** Decides whether a request is admitted, before any work is done for it. */
export interface Admission {
  /**
   * Admits a request with this `Authorization` header. Call `leave` with the same header when the
   * request ends. @throws HttpError if the request is refused.
   */
  enter(authorization?: string): void;
  leave(authorization?: string): void;
}
