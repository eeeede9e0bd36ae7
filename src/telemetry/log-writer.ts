import { write, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { formatForTerminal } from './terminal.ts';

/** The most text buffered for a slow reader. Further lines are dropped. */
const maxBufferedLength = 16 * 1024 * 1024;

/** A pipe writes this many bytes at once or not at all. */
const atomicLength = 4096;

/** Opens a writer of text to a terminal, or of JSON in blocks. It drops lines while writes fail. */
export function openLogWriter(fd: number, isTTY: boolean, isShared: boolean, onDrop: () => void) {
  const blockLength = isTTY ? 1 : isShared ? 3072 : 16_384;
  let collected = '';
  let unwritten: Buffer = Buffer.alloc(0);
  let isWriting = false;
  let isFailing = false;
  const nextBlock = () => {
    if (unwritten.length === 0) {
      unwritten = Buffer.from(collected);
      collected = '';
    }
    if (!isShared) return unwritten;
    // Lines of processes that share a pipe do not mix. A longer line is written alone.
    const end = unwritten.lastIndexOf('\n', atomicLength - 1) + 1 || unwritten.indexOf('\n') + 1;
    return unwritten.subarray(0, end || unwritten.length);
  };
  const flush = () => {
    const block = nextBlock();
    if (isWriting || block.length === 0) return;
    isWriting = true;
    write(fd, block, (error, written = 0) => {
      isWriting = false;
      // A full pipe is no failure: its reader is slow. It may take a part of a longer line.
      const isCut = isShared && written < block.length && block.length <= atomicLength;
      isFailing = error ? error.code !== 'EAGAIN' : isCut;
      unwritten =
        isShared && isFailing ? fromCutLine(unwritten, written) : unwritten.subarray(written);
      if (!error && unwritten.length > 0) flush();
    });
  };
  // Lines of less than a block are written after a short time, and those that failed again.
  const timer = setInterval(flush, 100).unref();
  return {
    write(line: string) {
      if (isFailing || unwritten.length + collected.length > maxBufferedLength) return onDrop();
      const text = isTTY ? formatForTerminal(line) : line;
      collected += text;
      // Once per block, so that a pipe that is full is not tried for every line.
      if (collected.length % blockLength < text.length) flush();
    },
    /** Writes the buffer for at most a second. Resolves to false if a write is still blocked. */
    async close(): Promise<boolean> {
      clearInterval(timer);
      for (let tries = 0; nextBlock().length > 0 && tries < 100; tries++) {
        // The last tenth of the second is for the write in flight.
        if (tries < 90) flush();
        await wait(10);
      }
      return !isWriting;
    },
    /** Writes what it can without waiting, for a process that is exiting. */
    closeNow() {
      // A write in flight completes before the process exits.
      if (isWriting) unwritten = unwritten.subarray(nextBlock().length);
      try {
        while (nextBlock().length > 0) unwritten = unwritten.subarray(writeSync(fd, nextBlock()));
      } catch {
        // The process ends without these lines.
      }
    },
  };
}

/** Returns the rest of the text after a line break, with the whole line that was cut. */
function fromCutLine(text: Buffer, written: number): Buffer {
  const start = text.lastIndexOf('\n', Math.max(written - 1, 0)) + 1;
  return Buffer.concat([Buffer.from('\n'), text.subarray(start)]);
}
