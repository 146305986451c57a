-- Decrement the counters in KEYS, but none whose window is over: the next window must not start below zero.
for _, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") > 0 then redis.call("DECR", key) end
end
