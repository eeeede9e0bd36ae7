-- Repeats one request. Arguments: the number of keys that take turns, the key without its number, the
-- correct response body, and the request in wire format.
local keys, expected, prefix, suffix
local count = 0
wrong = 0

function setup(thread)
  worker = thread
end

function init(args)
  local key, text = args[2], args[4]
  local at = select(2, text:find(key, 1, true))
  keys, expected, prefix, suffix = tonumber(args[1]), args[3], text:sub(1, at), text:sub(at + 1)
end

function request()
  count = count % keys + 1
  return prefix .. count .. suffix
end

function response(status, headers, text)
  if status ~= 200 or text ~= expected then wrong = wrong + 1 end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%.6f,"wrong":%d,"broken":%d,"p50Ms":%.3f,"p99Ms":%.3f}',
    summary.requests, summary.duration / 1e6, worker:get('wrong'),
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000
  ))
end
