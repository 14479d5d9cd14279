-- Gives a permit, the seconds to wait, or a refusal.
-- ARGV: clock, holder, slot, probe lease, kb, run, tokens, max_run_tokens, '1' where it waits for nobody,
-- concurrency, requests_per_minute, tokens_per_minute ('' is none), then slots to free first (those whose fate the caller never learned).
-- Returns {'permit', epoch, '0' or '1' for a probe}, {'wait', seconds, '0' or '1' while it is closed}, {'aborted', reason} or {'budget', spent}.
local holder, slot, probe_lease, kb, run = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local tokens, max_run_tokens, waits_for_nobody = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9] == '1'
local concurrency, per_minute, tokens_per_minute = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local askers

-- The slots of a holder that has sent nothing for long come back. A dead prober's lease still runs: its request may be under way.
local function free_slots_of_the_dead()
  local dead = redis.call('ZRANGEBYSCORE', HOLDERS, '-inf', exact(clock - RULES.holder_seconds))
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
    if is_dead[cjson.decode(slots[index + 1]).holder] then
      free_slot(slots[index])
    end
  end
end

-- Asked again after a lost answer: what was granted then is not granted any more.
local function take_back()
  local record = free(slot)
  if record then
    settle_tokens(record, 0, 0)
  end
end

local function wait(seconds, closed)
  return {'wait', exact(seconds), closed and '1' or '0'}
end

local function wait_in_turn(seconds)
  if not waits_for_nobody then
    askers[kb].waits_until = clock + seconds
    write_asker(kb, askers[kb])
  end
  return wait(seconds)
end

local function wait_while_closed()
  local opens_at, probe_until = number('opens_at'), number('probe_until')
  if opens_at and clock < opens_at then
    return wait(opens_at - clock, true)
  end
  if opens_at and probe_until and clock < probe_until then
    return wait(math.min(probe_until - clock, RULES.probe_poll_seconds))
  end
  return nil
end

local function refusal_of_aborted()
  local reason = run ~= '' and of_run('aborted')
  return reason and {'aborted', reason} or nil
end

local function tokens_in_flight()
  local sum = 0
  for _, packed in ipairs(redis.call('HVALS', SLOTS)) do
    local record = cjson.decode(packed)
    if record.run == run then
      sum = sum + tonumber(record.tokens)
    end
  end
  return sum
end

-- What is in flight may turn out to be less, or nothing: only what has been answered is surely spent.
local function refusal_of_spent()
  local spent = tonumber(of_run('spent') or 0)
  if run == '' or not max_run_tokens or spent + tokens <= max_run_tokens then
    return nil
  end
  spent = spent - tokens_in_flight()
  return spent + tokens <= max_run_tokens and wait(RULES.slot_poll_seconds) or {'budget', string.format('%.0f', spent)}
end

local function wait_for_rate()
  if not waits_for_nobody then
    askers = note_asker(kb, concurrency)
  end
  local seconds = per_minute and configured_wait(per_minute) or learned_wait()
  if seconds <= 0 and tokens_per_minute then
    seconds = token_wait(tokens, tokens_per_minute)
    if not waits_for_nobody then
      seconds = math.min(seconds, RULES.longest_token_wait_seconds)
    end
  end
  if seconds <= 0 then
    return nil
  end
  if not waits_for_nobody and redis.call('HLEN', SLOTS) >= gate_limit() then
    note_slots_wanted(seconds)
  end
  return wait_in_turn(seconds)
end

local function wait_for_slot()
  if waits_for_nobody then
    return nil
  end
  local by_kb, taken, limit = taken_by_kb(), redis.call('HLEN', SLOTS), gate_limit()
  if taken >= limit then
    note_slots_wanted(RULES.slot_poll_seconds)
    return wait_in_turn(RULES.slot_poll_seconds)
  end
  if concurrency and (by_kb[kb] or 0) >= concurrency then
    askers[kb].waits_until = 0
    write_asker(kb, askers[kb])
    return wait(RULES.slot_poll_seconds)
  end
  local rate_is_scarce = per_minute or tokens_per_minute or field('rate')
  local first = first_goes_at(kb, askers, by_kb, limit, rate_is_scarce and 1 or limit - taken)
  return first and wait_in_turn(math.max(RULES.slot_poll_seconds, first - clock)) or nil
end

local function grant()
  local probes = field('opens_at') ~= nil
  local record = {holder = holder, kb = kb, tokens = ARGV[7], granted_at = exact(clock), run = run}
  redis.call('HSET', SLOTS, slot, cjson.encode(record))
  redis.call('ZADD', SECOND, exact(clock + RULES.longest_in_second), slot)
  redis.call('ZREMRANGEBYSCORE', SECOND, '-inf', exact(clock))
  set('granted_at', clock)
  local permits = redis.call('HINCRBY', STATE, 'permits', 1)
  count_tokens(tokens)
  if run ~= '' then
    redis.call('HINCRBY', RUN, 'spent', tokens)
  end
  if not waits_for_nobody then
    askers[kb].granted, askers[kb].waits_until = permits, 0
    write_asker(kb, askers[kb])
  end
  if probes then
    redis.call('HSET', STATE, 'probe', slot, 'probe_until', exact(clock + probe_lease))
  end
  return {'permit', field('epoch'), probes and '1' or '0'}
end

keep(holder)
free_all(13)
take_back()
free_slots_of_the_dead()
begin_epoch()
local answer = refusal_of_aborted() or wait_while_closed() or refusal_of_spent() or wait_for_rate() or wait_for_slot() or grant()
expire_later()
return answer
