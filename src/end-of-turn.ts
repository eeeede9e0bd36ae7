let end: Promise<void> | undefined;

/**
 * Resolves when all that has come in by this turn of the event loop has been read. What is done to
 * each answer is then done to all of them in a row: the processor still has the code at hand, and
 * writes to sockets go out back to back, so that the first wakes the client's process and the next
 * find it awake. Requests to the REST service need none of it: undici sends what reuses a connection
 * at the end of a turn already.
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined;
      resolve();
    });
  });
  return end;
}
