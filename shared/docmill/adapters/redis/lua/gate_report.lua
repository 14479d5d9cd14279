-- Records what a request came to, and frees its slot.
-- ARGV: clock, slot, the permit's epoch, outcome, then the waits after the first, second, ... refusal in a row; the last one goes for all after it.
local slot, epoch, outcome = ARGV[2], ARGV[3], ARGV[4]
local first_wait = 5
local clock = now()
local taken = redis.call('HLEN', SLOTS)
local was_probe = field('probe') == slot
local freed = free(slot)

if field('epoch') ~= epoch then
  return 0  -- from before a closing, an opening or a flush
end
local closed = field('opens_at') ~= nil
if closed and not was_probe then
  return 0  -- a probe whose lease ran out, and that another one has replaced
end

local function raise_epoch()
  redis.call('HSET', STATE, 'epoch', string.format('%.0f', tonumber(epoch) + 1))
end

if outcome == 'rate_limited' or (outcome == 'failed' and closed) then
  local failures = redis.call('HINCRBY', STATE, 'failures', 1)
  local wait = tonumber(ARGV[math.min(first_wait + failures - 1, #ARGV)])
  redis.call('HDEL', STATE, 'limit')
  redis.call('HSET', STATE, 'opens_at', exact(clock + wait))
  raise_epoch()
elseif outcome == 'ok' and closed then
  redis.call('HDEL', STATE, 'opens_at', 'failures')
  redis.call('HSET', STATE, 'limit', 1)
  raise_epoch()
elseif outcome == 'ok' and freed == 1 then
  local limit = tonumber(field('limit'))
  if limit and taken >= limit then
    redis.call('HINCRBY', STATE, 'limit', 1)  -- only what was used is known to be bearable
  end
end
return 1
