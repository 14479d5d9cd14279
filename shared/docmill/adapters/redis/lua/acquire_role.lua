-- role, holder, time to live in ms -> token, or '' while another holds it
local role, holder, expires = ARGV[1], ARGV[2], int(NOW + tonumber(ARGV[3]))
local packed = redis.call('HGET', ROLES, role)
if packed then
  local token, until_ms, name = string.match(packed, '^(%d+)|(%d+)|(.*)$')
  if tonumber(until_ms) > NOW then
    if name ~= holder then
      return ''
    end
    redis.call('HSET', ROLES, role, token .. '|' .. expires .. '|' .. holder)
    return token
  end
end
-- From the clock, so that a token given before the state was lost is never given again.
local token = int(math.max(tonumber(redis.call('HGET', META, 'last_token') or 0) + 1, NOW))
redis.call('HSET', META, 'last_token', token)
redis.call('HSET', ROLES, role, token .. '|' .. expires .. '|' .. holder)
return token
