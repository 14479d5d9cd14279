-- Records what a request came to, and frees its slot.
-- ARGV: clock, slot, the permit's epoch, outcome, run, reason, tokens that were used ('' is unknown), then the waits after the first, second,
-- ... refusal in a row; the last one goes for all after it.
-- Returns {change, seconds until it opens or ''}.
local slot, epoch, outcome, run, reason, used = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local FIRST_WAIT = 8
local UNCHANGED = {'none', ''}
local NOT_SPENT = {cancelled = true, failed = true, rate_limited = true}

local full = redis.call('HLEN', SLOTS) >= gate_limit()
local was_probe = field('probe') == slot
local closed = field('opens_at') ~= nil

local function free_and_settle()
  local record = free(slot)
  if not record then
    return false
  end
  local leaves = tonumber(redis.call('ZSCORE', SECOND, slot) or nil)
  if leaves and leaves > clock + RULES.second_seconds then
    redis.call('ZADD', SECOND, exact(clock + RULES.second_seconds), slot)
  end
  if used then
    settle_tokens(record, used, used)
  elseif NOT_SPENT[outcome] then
    settle_tokens(record, tonumber(record.tokens), 0)
  end
  return true
end

-- Counts a failure of the run; whether it was one too many without a success of anybody's.
local function fails_too_often()
  local successes = field('successes') or '0'
  local failures = 1
  if (of_run('after_success') or '0') == successes then
    failures = tonumber(of_run('failures') or 0) + 1
  end
  local too_many = failures >= RULES.failures_without_success
  redis.call('HSET', RUN, 'failures', too_many and 0 or failures, 'after_success', successes)
  if too_many then
    abort_run(reason)
  end
  return too_many
end

local function open()
  redis.call('HDEL', STATE, 'opens_at', 'failures')
  set('rate_since', clock)
  restart_at_one()
  raise_epoch()
  return {'opened', ''}
end

local function record_outcome(freed)
  if outcome == 'refused' and run ~= '' then
    abort_run(reason)
  end
  if field('epoch') ~= epoch or (closed and not was_probe) then
    return UNCHANGED  -- from before a closing, an opening or a flush; or a probe whose lease ran out, and that another one has replaced
  end
  if outcome == 'ok' and freed then
    count_success(slot)
  end
  local too_many = outcome == 'failed' and freed and run ~= '' and fails_too_often()
  if outcome == 'rate_limited' and not closed then
    learn_rate()
  end
  if outcome == 'rate_limited' or (outcome == 'failed' and closed) or too_many then
    return close(FIRST_WAIT)
  end
  if outcome == 'ok' and closed then
    return open()
  end
  if outcome == 'ok' and freed then
    climb_after_success(full)
  end
  return UNCHANGED
end

local answer = record_outcome(free_and_settle())
expire_later()
return answer
