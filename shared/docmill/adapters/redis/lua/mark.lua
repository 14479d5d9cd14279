-- set, document, generation
local packed = redis.call('HGET', ENTRIES .. ARGV[1], ARGV[2])
if packed then
  local state, stat, size, _, live, previous, reason = parse_entry(packed)
  if string.match(live, '^%d+') == ARGV[3] then
    redis.call('HSET', ENTRIES .. ARGV[1], ARGV[2], pack_entry(state, stat, size, '1', live, previous, reason))
  end
end
return 1
