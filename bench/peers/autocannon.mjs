import autocannon from 'autocannon';

// Generates the load if wrk is not installed. Takes the load as JSON in one argument, and prints
// the measurements as JSON.
const { url, messages, expectedBodies, keys, apiKey, seconds, connections } = JSON.parse(
  process.argv[2],
);
let count = 0;
let wrong = 0;

const nextKey = () => {
  count++;
  return keys === 'each' ? apiKey + count : apiKey;
};

const result = await autocannon({
  url,
  connections,
  duration: seconds,
  timeout: 30,
  requests: messages.map(({ headers, body, ...message }) => {
    const withKey = () => ({ ...headers, authorization: `Bearer ${nextKey()}` });
    return {
      ...message,
      headers: withKey(),
      ...(body !== '' && { body }),
      ...(keys === 'each' && { setupRequest: (request) => ({ ...request, headers: withKey() }) }),
      onResponse(status, text) {
        if (status !== 200 || !expectedBodies.includes(text)) wrong++;
      },
    };
  }),
});
const { requests, latency, duration, errors } = result;
const figures = { requests: requests.total, seconds: duration, wrong, broken: errors };
process.stdout.write(`${JSON.stringify({ ...figures, p50Ms: latency.p50, p99Ms: latency.p99 })}\n`);
