-- role -> 1 while somebody holds it, else 0
local until_ms = string.match(redis.call('HGET', ROLES, ARGV[1]) or '', '^%d+|(%d+)|')
return until_ms and tonumber(until_ms) > NOW and 1 or 0
