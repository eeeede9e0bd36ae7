import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openAdministration } from '../../src/backends/open.ts';
import { linesOf } from '../../src/cli/transfer.ts';
import { quiet } from '../support/log.ts';

const ignore = () => {};

describe('the input of an import', () => {
  it('is refused as soon as a line is too long', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    async function* endless() {
      yield Buffer.from('{"name":"a","categoryId":1}\n');
      for (;;) yield Buffer.alloc(1000, 'x');
    }
    const work = administration.importLines('pets', linesOf(endless()), ignore);
    await expect(work).rejects.toThrow('Line 2: expected at most 16384 bytes.');
  });

  it('may arrive in chunks of any size', async () => {
    await using administration = await openAdministration(':memory:', quiet.log);
    const text = '{"name":"ä","categoryId":1}\r\n\n{"name":"b","categoryId":2}';
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
    const lines = linesOf(Readable.from(bytes));
    expect(await administration.importLines('pets', lines, ignore)).toBe(2);
  });
});
