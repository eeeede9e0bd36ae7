import { describe, expect, it } from 'vitest';
import { encodeResponse } from '../support/fault-server.ts';
import { startRest } from '../support/faulty-rest.ts';

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
});
