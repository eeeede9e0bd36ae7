import { describe, expect, it } from 'vitest';
import { postGraphQL } from '../support/graphql.ts';
import { readParts, sendForParts } from '../support/parts.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

/** Orders that no parser returns unchanged. */
const orders = `[ {"id": 9007199254740993, "id": 1.0,\r\n "__proto__": {"b": 1e3, "2": 0.12345678901234567890, "1": -0} },
\t"größer \\u0041\\ud800 🐕", true, null ]\n`;

/** Starts a gateway for a REST service that sends these orders. */
async function startWithOrders(text: string) {
  const gateway = await startRestGateway(({ url }, response) =>
    sendJson(response, 200, url.includes('orders') ? text : '[]'),
  );
  const send = async (query: string) => (await postGraphQL(gateway.gateway, query)).text;
  return { ...gateway, send };
}

describe('the orders of a REST service', () => {
  it('are returned unchanged, however often the operation is used', async () => {
    await using service = await startWithOrders(orders);
    for (let repeat = 0; repeat < 5; repeat++) {
      expect(await service.send('{ a: orders pets { id } b: orders }')).toBe(
        `{"data":{"a":${orders},"pets":[],"b":${orders}}}`,
      );
    }
    const headers = { authorization: 'Bearer demo-key' };
    const rest = await fetch(`${service.url}/v1/store/orders`, { headers });
    expect(await rest.text()).toBe(orders);
  });

  it('are returned unchanged in a part, on one line in an event stream', async () => {
    await using service = await startWithOrders(orders);
    const query = '{ pets { id } ... @defer { orders } }';
    const send = (accept: string) => sendForParts(fetch, service.url, query, accept);
    expect(await (await send('multipart/mixed')).text()).toContain(`{"orders":${orders}}`);
    const events = await send('text/event-stream');
    expect(await events.clone().text()).toContain(
      `{"orders":${orders.replaceAll(/[\r\n]/g, ' ')}}`,
    );
    expect(await Array.fromAsync(readParts(events))).toHaveLength(2);
  });

  it.each(['null', '0', '"text"', ' [] '])('may be %s', async (text) => {
    await using service = await startWithOrders(text);
    expect(await service.send('{ orders }')).toBe(`{"data":{"orders":${text}}}`);
  });
});
