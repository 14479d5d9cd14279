-- Gives a permit or the seconds to wait.
-- ARGV: clock, holder, ceiling, slot, probe lease, holder seconds, slot poll, probe poll, then slots to free first
-- (those whose fate the caller never learned).
-- Returns {'permit', epoch, '0' or '1' for a probe} or {'wait', seconds}.
local holder, ceiling, slot, probe_lease = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local holder_seconds, slot_poll, probe_poll = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local clock = now()

local function free_slots_of_the_dead()
  local dead = redis.call('ZRANGEBYSCORE', HOLDERS, '-inf', exact(clock - holder_seconds))
  if #dead == 0 then
    return
  end
  local is_dead = {}
  for _, name in ipairs(dead) do
    is_dead[name] = true
    redis.call('ZREM', HOLDERS, name)
  end
  local slots = redis.call('HGETALL', SLOTS)
  for index = 1, #slots, 2 do
    if is_dead[slots[index + 1]] then
      redis.call('HDEL', SLOTS, slots[index])  -- a dead prober's lease still runs: its request may be under way
    end
  end
end

local function wait(seconds)
  return {'wait', exact(seconds)}
end

keep(holder, clock)
free_all(9)
free(slot)  -- asked again after a lost answer: what was granted then is not granted any more
free_slots_of_the_dead()

local epoch = field('epoch')
if not epoch then
  epoch = string.format('%.0f', math.floor(clock * 1000000))
  redis.call('HSET', STATE, 'epoch', epoch)
end
local taken = redis.call('HLEN', SLOTS)
local opens_at = tonumber(field('opens_at'))

if not opens_at then
  if taken >= math.min(ceiling, tonumber(field('limit')) or ceiling) then
    return wait(slot_poll)
  end
  redis.call('HSET', SLOTS, slot, holder)
  return {'permit', epoch, '0'}
end

if clock < opens_at then
  return wait(opens_at - clock)
end
local probe_until = tonumber(field('probe_until'))
if probe_until and clock < probe_until then
  return wait(math.min(probe_until - clock, tonumber(probe_poll)))
end
if taken >= ceiling then
  return wait(slot_poll)
end
redis.call('HSET', SLOTS, slot, holder)
redis.call('HSET', STATE, 'probe', slot, 'probe_until', exact(clock + probe_lease))
return {'permit', epoch, '1'}
