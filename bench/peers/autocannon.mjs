import autocannon from 'autocannon';

// The load where there is no wrk. Takes one argument, the load as JSON, and prints what came of it.
const { url, body, answer, keys, apiKey, seconds, connections } = JSON.parse(process.argv[2]);
let count = 0;
let wrong = 0;

const nextKey = () => {
  count++;
  return keys === 'each' ? apiKey + count : apiKey;
};
const headersWith = (key) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${key}`,
});

const result = await autocannon({
  url,
  connections,
  duration: seconds,
  timeout: 30,
  requests: [
    {
      method: 'POST',
      body,
      headers: headersWith(nextKey()),
      ...(keys === 'each' && {
        setupRequest: (request) => ({ ...request, headers: headersWith(nextKey()) }),
      }),
      onResponse(status, text) {
        if (status !== 200 || text !== answer) wrong++;
      },
    },
  ],
});
const { requests, latency, duration, errors } = result;
const figures = { requests: requests.total, seconds: duration, wrong, broken: errors };
process.stdout.write(`${JSON.stringify({ ...figures, p50Ms: latency.p50, p99Ms: latency.p99 })}\n`);
