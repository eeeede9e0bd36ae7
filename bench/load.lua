-- The requests of one round. Arguments: body, right answer, key, and "each" for a key a request.
local body, answer, key, before, after
local count = 0
wrong = 0

function setup(thread)
  worker = thread
end

function init(args)
  body, answer, key = args[1], args[2], args[3]
  wrk.method = 'POST'
  wrk.body = body
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. key
  local whole = wrk.format()
  if args[4] == 'each' then
    local at = select(2, whole:find(key, 1, true))
    before, after = whole:sub(1, at), whole:sub(at + 1)
  else
    request = function() return whole end
  end
end

function request()
  count = count + 1
  return before .. count .. after
end

function response(status, headers, text)
  if status ~= 200 or text ~= answer then wrong = wrong + 1 end
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
