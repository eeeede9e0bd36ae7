/** Decides, before anything is spent on a request, whether it is taken in. */
export interface Admission {
  /** Takes a request in; each needs one `leave`. @throws HttpError for one that is turned away. */
  enter(): void;
  leave(): void;
}
