-- grace in ms, limit -> how many entries were forgotten
local left, forgotten = tonumber(ARGV[2]), 0
local gone_until = int(NOW - tonumber(ARGV[1]))
for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
  local documents = redis.call('ZRANGEBYSCORE', GONE .. set, '-inf', gone_until, 'LIMIT', 0, int(math.max(left - forgotten, 0)))
  for _, document in ipairs(documents) do
    redis.call('HDEL', ENTRIES .. set, document)
    redis.call('ZREM', IDS .. set, document)
    redis.call('ZREM', GONE .. set, document)
    count_state(set, 'G', -1)
    forgotten = forgotten + 1
  end
end
return forgotten
