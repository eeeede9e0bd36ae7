import { describe, expect, it } from 'vitest';
import { encodeResponse } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';

/** The bytes of a pipe that are written at once. */
const atomic = 4096;

describe('the log line of a failed call', () => {
  it('has the status of the HTTP response, whatever its body says', async () => {
    const body = JSON.stringify({ code: 'broken', message: 'It broke.', status: 200 });
    await using rest = await startRest((socket) => socket.write(encodeResponse('500 Oops', body)));
    await expect(rest.list()).rejects.toMatchObject({ status: 500 });
    expect(JSON.parse(rest.logged.join())).toMatchObject({
      status: 500,
      code: 'broken',
      message: 'It broke.',
    });
  });

  it.each([
    'm',
    '語',
    '\u0000',
  ])('fits into an atomic write to a pipe, however long the body is: %j', async (character) => {
    const text = character.repeat(2000);
    const body = JSON.stringify({ code: text, message: text, status: 500 });
    await using rest = await startRest((socket) => socket.write(encodeResponse('500 Oops', body)));
    await expect(rest.list()).rejects.toMatchObject({ status: 500 });
    const [line = ''] = rest.logged;
    expect(JSON.parse(line).message).toBe(character.repeat(500));
    expect(Buffer.byteLength(line)).toBeLessThan(atomic);
  });
});
