import { decodeMessage } from '../contract/codec.ts';
import { type Check, requireThat } from './check.ts';
import { describe, expectStatus, readJson, shown } from './expect.ts';
import {
  type ServiceRequest,
  type ServiceResponse,
  unauthenticatedRequests,
} from './http-client.ts';

const text = 'Contract check';
const body = JSON.stringify({ message: text });

/** The quickstart's rules for `POST /messages`. It does not specify the bodies of errors. */
export const messageChecks: readonly Check[] = [
  ...unauthenticatedRequests.map(({ id, description, request }) =>
    refusal(id, description, 401, { ...request, body }),
  ),
  refusal('no-message', 'without a message', 400, { body: '{}' }),
  refusal('no-json', 'with a body that is not JSON', 400, { body: '{' }),
  refusal('no-type', 'without a content type', 400, { body, contentType: null }),
  {
    id: 'message',
    rule: 'POST /messages: success with the message, its id, status and timestamp',
    run: async ({ send }) => expectMessage(await send('/messages', { body })),
  },
];

function refusal(
  id: string,
  description: string,
  status: 400 | 401,
  request: ServiceRequest,
): Check {
  return {
    id: `message-${id}`,
    rule: `POST /messages ${description}: ${status}`,
    async run({ send }) {
      const response = await send('/messages', request);
      expectStatus(response, status);
      return describe(response);
    },
  };
}

function expectMessage(response: ServiceResponse): string {
  const isSuccess = response.status >= 200 && response.status <= 299;
  requireThat(isSuccess, `expected a 2xx status, received ${describe(response)}`);
  const { message, status } = decodeMessage(readJson(response));
  requireThat(message === text, `message: expected ${shown(text)}, received ${shown(message)}`);
  return `${response.status}, status ${shown(status)}`;
}
