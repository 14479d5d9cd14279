-- role, token
local packed = redis.call('HGET', ROLES, ARGV[1])
if packed and string.match(packed, '^%d+') == ARGV[2] then
  redis.call('HDEL', ROLES, ARGV[1])
end
return 1
