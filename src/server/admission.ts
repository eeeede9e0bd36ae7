import type { Release } from '../limits/share.ts';

/** Decides whether a request is admitted, before any work is done for it. */
export interface Admission {
  /**
   * Admits a request of this key. Call what it returns once, when the request ends; it then reads
   * whether the backend has accepted the key. @throws HttpError if the request is refused.
   */
  enter(key: number, request: { readonly keyAccepted: boolean }): Release;
  /**
   * Takes a request of the rate of its key; undefined if there is no limit of it.
   * @throws HttpError if the rate is exceeded. A promise may also reject with it.
   */
  readonly takeRate?:
    | ((key: number, authorization: string | undefined) => Promise<unknown> | undefined)
    | undefined;
}
