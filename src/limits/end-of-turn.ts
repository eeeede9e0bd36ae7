let end: Promise<void> | undefined;

/**
 * Resolves at the end of the current turn of the event loop, when all pending input has been read.
 * Work that waits for it runs as a batch, with the code still in the CPU's caches. It saves 15 % of
 * the CPU time per request for writing responses, and 4 % for decoding REST responses
 * (docs/performance.md).
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
