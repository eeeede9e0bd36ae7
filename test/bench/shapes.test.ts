import { describe, expect, it } from 'vitest';
import { apollo, urql, urqlPost } from '../../bench/shapes.ts';

const query = 'query Pets($limit: Int) { pets(limit: $limit) { id } }';
const operation = { query, variables: { limit: 20 }, data: {} };

describe('the client requests of the benchmark', () => {
  it("include Apollo Client's POST with __typename and the name of the client", async () => {
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

  it("include urql's GET, its default", async () => {
    expect(await urql(operation)).toMatchInlineSnapshot(`
      {
        "body": "",
        "headers": {
          "accept": "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed",
          "accept-encoding": "gzip, deflate",
          "accept-language": "*",
          "sec-fetch-mode": "cors",
          "user-agent": "node",
        },
        "method": "GET",
        "path": "/graphql?query=query+Pets%28%24limit%3A+Int%29+%7B%0A++pets%28limit%3A+%24limit%29+%7B%0A++++id%0A++++__typename%0A++%7D%0A%7D&operationName=Pets&variables=%7B%22limit%22%3A20%7D",
      }
    `);
  });

  it("include urql's POST with preferGetMethod: false", async () => {
    expect(await urqlPost(operation)).toMatchInlineSnapshot(`
      {
        "body": "{"operationName":"Pets","query":"query Pets($limit: Int) {\\n  pets(limit: $limit) {\\n    id\\n    __typename\\n  }\\n}","variables":{"limit":20}}",
        "headers": {
          "accept": "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed",
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
});
