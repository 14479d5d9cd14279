-- The gate of one provider: its keys, its clock, and the steps that its scripts share. It stands at the head of each of them; before it
-- stands RULES, the numbers of the rules.
--
-- key                             type   what
-- docmill:{gate:<hash>}:state      hash   epoch         raised by each closing and opening; begins at the clock's microseconds
--                                         opens_at      while it is closed: the moment from which one request may probe
--                                         failures      refusals in a row
--                                         probe         the slot of the probe, while one is out
--                                         probe_until   the end of the probe's lease
--                                         starts_at     slots with which learning begins, by the ceilings that were asked with lately
--                                         top           slots at most, by the same
--                                         limit, half, began, answers, from_limit, from_rate, next_try: what was learned of slots
--                                         rate          requests per second that was learned, where one was
--                                         rate_since    when it was learned, raised, or first used after an opening
--                                         permits       how many were given
--                                         granted_at    when the last one was given
--                                         successes     how many requests the provider has answered well
--                                         wanted_until  until when requests that wait while all slots are taken are expected
--                                         wanted_since  since when there were such without a break
--                                         unhindered_since  since when none of them has waited for the rate
-- docmill:{gate:<hash>}:slots      hash   slot -> JSON of holder, kb, run, tokens and the moment of the permit, one for each request in flight
-- docmill:{gate:<hash>}:holders    zset   holder -> its last sign of life
-- docmill:{gate:<hash>}:left       zset   slot -> the moment when it was freed, of the last minute
-- docmill:{gate:<hash>}:second     zset   slot -> the moment from which it does not count in the second any more
-- docmill:{gate:<hash>}:succeeded  zset   slot -> the moment of its success, of the last seconds
-- docmill:{gate:<hash>}:tokens     hash   second -> tokens that were granted in it, of the last minute
-- docmill:{gate:<hash>}:askers     hash   kb -> 'asked starts_at top waits_until granted': when it asked last, its ceiling, until when
--                                         it was told to wait (0: it does not), and the number of its last permit
-- docmill:{gate:<hash>}:run:<run>  hash   spent          tokens that were granted to the run, corrected by reports
--                                         failures       in a row
--                                         after_success  the gate's successes at the last of them
--                                         aborted        why the run gets no leave any more
--
-- Everything expires a day after its last use. Moments are seconds since 1970, written so that nothing of them is lost.
-- ARGV[1] is a test's clock, or empty: then the server's own.
local STATE, SLOTS, HOLDERS, LEFT, SECOND, SUCCEEDED, TOKENS, ASKERS, RUN = unpack(KEYS)

local function now()
  if ARGV[1] ~= '' then
    return tonumber(ARGV[1])
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

local clock = now()

local function exact(number)
  return string.format('%.17g', number)
end

local function field(name)
  return redis.call('HGET', STATE, name) or nil
end

local function number(name)
  return tonumber(field(name))
end

local function set(name, value)
  redis.call('HSET', STATE, name, exact(value))
end

local function of_run(name)
  return redis.call('HGET', RUN, name) or nil
end

local function expire_later()
  for _, key in ipairs(KEYS) do
    redis.call('EXPIRE', key, RULES.unused_seconds)
  end
end

local function keep(holder)
  redis.call('ZADD', HOLDERS, exact(clock), holder)
end

-- Frees a slot: what was in it has left now. Returns what it was, or nil. A probe's lease still runs.
local function free_slot(slot)
  local record = redis.call('HGET', SLOTS, slot)
  if not record then
    return nil
  end
  redis.call('HDEL', SLOTS, slot)
  redis.call('ZADD', LEFT, exact(clock), slot)
  redis.call('ZREMRANGEBYSCORE', LEFT, '-inf', exact(clock - RULES.minute_seconds))
  return cjson.decode(record)
end

local function free(slot)
  if field('probe') == slot then
    redis.call('HDEL', STATE, 'probe', 'probe_until')
  end
  return free_slot(slot)
end

local function free_all(first_argument)
  for index = first_argument, #ARGV do
    free(ARGV[index])
  end
end

local function begin_epoch()
  redis.call('HSETNX', STATE, 'epoch', string.format('%.0f', math.floor(clock * 1000000)))
end

local function raise_epoch()
  begin_epoch()
  redis.call('HINCRBY', STATE, 'epoch', 1)
end

local function abort_run(reason)
  redis.call('HSETNX', RUN, 'aborted', reason)
end
