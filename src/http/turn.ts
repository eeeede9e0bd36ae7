let end: Promise<void> | undefined;

/**
 * Resolves when all that has come in by this turn of the event loop has been worked on. What is
 * written to sockets then goes out back to back: the first write wakes the process at the other end,
 * and the next find it awake, which costs both sides less than waking it for each.
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
