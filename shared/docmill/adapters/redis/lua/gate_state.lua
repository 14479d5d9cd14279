-- The gate of one provider: its keys, its clock, and the steps that its scripts share. It stands at the head of each of them.
--
-- key                          type   what
-- docmill:{gate:<hash>}:state    hash   epoch        raised by each closing and opening; begins at the clock's microseconds
--                                       opens_at     while it is closed: the moment from which one request may probe
--                                       failures     refusals in a row
--                                       probe        the slot of the probe, while one is out
--                                       probe_until  the end of the probe's lease
--                                       limit        slots since it opened; absent while only the ceiling counts
-- docmill:{gate:<hash>}:slots    hash   slot -> holder, one for each request in flight
-- docmill:{gate:<hash>}:holders  zset   holder -> its last sign of life
--
-- Moments are seconds since 1970, written with six decimals: a plain number would lose some.
-- ARGV[1] is a test's clock, or empty: then the server's own.
local STATE, SLOTS, HOLDERS = KEYS[1], KEYS[2], KEYS[3]

local function now()
  if ARGV[1] ~= '' then
    return tonumber(ARGV[1])
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

local function exact(seconds)
  return string.format('%.6f', seconds)
end

local function field(name)
  return redis.call('HGET', STATE, name) or nil
end

local function free(slot)
  local freed = redis.call('HDEL', SLOTS, slot)
  if field('probe') == slot then
    redis.call('HDEL', STATE, 'probe', 'probe_until')
  end
  return freed
end

local function free_all(first_argument)
  for index = first_argument, #ARGV do
    free(ARGV[index])
  end
end

local function keep(holder, clock)
  redis.call('ZADD', HOLDERS, exact(clock), holder)
end
