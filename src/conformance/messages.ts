import { decodeMessage } from '../contract/decode.ts';
import { type Question, type Reply, refusedKeys } from './ask.ts';
import { type Check, ContractBreak, type Finding, pass, type Service } from './check.ts';
import { describe, expectStatus, readJson, shown } from './expect.ts';

const text = 'Contract check';
const body = JSON.stringify({ message: text });

/** What the quickstart says of `POST /messages`. The bodies of its errors are not published. */
export const messageChecks: readonly Check[] = [
  ...refusedKeys.map(({ id, words, question }) => refusing(id, words, 401, { ...question, body })),
  refusing('no-message', 'without a message', 400, { body: '{}' }),
  refusing('no-json', 'with a body that is not JSON', 400, { body: '{' }),
  refusing('no-type', 'without a content type', 400, { body, contentType: null }),
  {
    id: 'message',
    rule: 'POST /messages: a success with the message, its id, status and timestamp',
    run: async ({ ask, apiKey }) => sent(await ask('/messages', { apiKey, body })),
  },
];

function refusing(id: string, words: string, status: 400 | 401, question: Question): Check {
  return {
    id: `message-${id}`,
    rule: `POST /messages ${words}: ${status}`,
    async run({ ask, apiKey }: Service) {
      const reply = await ask('/messages', status === 400 ? { apiKey, ...question } : question);
      expectStatus(reply, status);
      return pass(describe(reply));
    },
  };
}

function sent(reply: Reply): Finding {
  if (reply.status < 200 || reply.status > 299) {
    throw new ContractBreak(`expected a success, received ${describe(reply)}`);
  }
  const { message, status } = decodeMessage(readJson(reply));
  if (message === text) return pass(`${reply.status}, status ${shown(status)}`);
  throw new ContractBreak(`message: expected ${shown(text)}, received ${shown(message)}`);
}
