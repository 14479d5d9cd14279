-- set -> 1, or 0 when it is served
local set = ARGV[1]
if redis.call('HGET', META, 'served') == set then
  return 0
end
redis.call('UNLINK', ENTRIES .. set, IDS .. set, GONE .. set, COUNTS .. set)
redis.call('SREM', INDEX_SETS, set)
return 1
