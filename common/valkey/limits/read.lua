-- Return the count and the remaining seconds (-2 before the first count) of each counter in KEYS.
local states = {}
for i, key in ipairs(KEYS) do
  states[2 * i - 1], states[2 * i] = tonumber(redis.call("GET", key) or "0"), redis.call("TTL", key)
end
return states
