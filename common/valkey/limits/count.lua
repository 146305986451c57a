-- Increment all counters in KEYS, or none if one is full. ARGV: amount and window in seconds of each. Return the index
-- of the counter that is full for the longest time, or 0, and its seconds; then the same as read.lua.
local full, wait = 0, -1
for i, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") >= tonumber(ARGV[2 * i - 1]) then
    local remaining = redis.call("TTL", key)
    if remaining > wait then full, wait = i, remaining end
  end
end
for i, key in ipairs(full > 0 and {} or KEYS) do
  if redis.call("INCR", key) == 1 then redis.call("EXPIRE", key, ARGV[2 * i]) end
end
local states = {full, wait}
for i, key in ipairs(KEYS) do
  states[2 * i + 1], states[2 * i + 2] = tonumber(redis.call("GET", key) or "0"), redis.call("TTL", key)
end
return states
