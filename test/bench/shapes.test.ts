import { expect, it } from 'vitest';
import { apollo } from '../../bench/shapes.ts';

const query = 'query Pets($limit: Int) { pets(limit: $limit) { id } }';
const operation = { query, variables: { limit: 20 } };

it("sends Apollo Client's POST in the benchmark, with __typename and the name of the client", async () => {
  expect(await apollo(operation)).toMatchInlineSnapshot(`
    {
      "body": "{"operationName":"Pets","variables":{"limit":20},"extensions":{"clientLibrary":{"name":"@apollo/client","version":"4.3.8"}},"query":"query Pets($limit: Int) {\\n  pets(limit: $limit) {\\n    id\\n    __typename\\n  }\\n}"}",
      "headers": {
        "accept": "application/graphql-response+json,application/json;q=0.9",
        "accept-encoding": "gzip, deflate",
        "accept-language": "*",
        "content-type": "application/json",
        "sec-fetch-mode": "cors",
        "user-agent": "node",
      },
      "method": "POST",
      "path": "/graphql",
    }
  `);
});
