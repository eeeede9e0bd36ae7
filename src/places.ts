/** How many places there are in a table that is indexed by `placeOf`. */
export const places = 4096;

/** A hash (Bernstein's), as an index. The end of a credential tells it from others as well as all. */
export function placeOf(authorization: string, parameters = ''): number {
  let hash = 5381;
  for (let index = Math.max(0, authorization.length - 16); index < authorization.length; index++) {
    hash = (hash * 33 + authorization.charCodeAt(index)) | 0;
  }
  for (let index = 0; index < parameters.length; index++) {
    hash = (hash * 33 + parameters.charCodeAt(index)) | 0;
  }
  return hash & (places - 1);
}
