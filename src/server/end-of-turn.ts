let end: Promise<void> | undefined;

/**
 * Resolves when all that has come in by this turn of the event loop has been worked on. Answers that
 * are written to sockets then go out back to back: the first write wakes the client's process, and
 * the next find it awake, which costs both sides less than waking it for each. REST calls need none
 * of it: undici sends what reuses a connection at the end of a turn already.
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
