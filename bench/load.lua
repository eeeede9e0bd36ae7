-- Sends the requests of one round in rotation. Arguments: "one" for a single key or "each" for a
-- key per request, the key, the number of correct response bodies, these bodies, and the requests
-- in wire format.
local expectedBodies, prefixes, suffixes, whole = {}, {}, {}, {}
local count = 0
wrong = 0

function setup(thread)
  worker = thread
end

function init(args)
  local key, last = args[2], 3 + tonumber(args[3])
  for index = 4, last do expectedBodies[args[index]] = true end
  for index = last + 1, #args do
    local text = args[index]
    local at = select(2, text:find(key, 1, true))
    table.insert(whole, text)
    table.insert(prefixes, text:sub(1, at))
    table.insert(suffixes, text:sub(at + 1))
  end
  if args[1] == 'one' then
    request = function()
      count = count + 1
      return whole[count % #whole + 1]
    end
  end
end

function request()
  count = count + 1
  local index = count % #whole + 1
  return prefixes[index] .. count .. suffixes[index]
end

function response(status, headers, text)
  if status ~= 200 or not expectedBodies[text] then wrong = wrong + 1 end
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
