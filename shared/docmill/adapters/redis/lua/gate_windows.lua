-- The rate and the tokens of the last minute. Each function that returns seconds says how long they make a request wait; 0 is not at all.
local function spacing_wait(seconds)
  local granted_at = number('granted_at')
  return granted_at and math.max(0, granted_at + seconds - clock) or 0
end

local function first_score(key)
  return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
end

local function minute_wait(most)
  redis.call('ZREMRANGEBYSCORE', LEFT, '-inf', exact(clock - RULES.minute_seconds))
  local left = redis.call('ZCARD', LEFT)
  if redis.call('HLEN', SLOTS) + left < most then
    return 0
  end
  return left > 0 and first_score(LEFT) + RULES.minute_seconds - clock or RULES.minute_seconds
end

-- A request in flight may be answered now at the earliest, and then counts for one second more.
local function second_wait(most, spacing)
  local in_second = most / RULES.minute_seconds
  in_second = spacing > 0 and math.ceil(in_second) or math.floor(in_second)
  redis.call('ZREMRANGEBYSCORE', SECOND, '-inf', exact(clock))
  if redis.call('ZCARD', SECOND) < in_second then
    return 0
  end
  return math.min(first_score(SECOND) - clock, RULES.second_seconds)
end

local function configured_wait(most)
  local is_spaced = most < RULES.spaced_below and most % RULES.minute_seconds ~= 0
  local spacing = is_spaced and RULES.minute_seconds / most or 0
  return math.max(spacing_wait(spacing), minute_wait(most), second_wait(most, spacing))
end

local function raise_rate_after_quiet_minute()
  local rate = number('rate')
  if rate and not field('opens_at') and clock - (number('rate_since') or 0) >= RULES.quiet_seconds then
    set('rate', rate * RULES.rate_growth)
    set('rate_since', clock)
  end
end

local function learned_wait()
  raise_rate_after_quiet_minute()
  local rate = number('rate')
  local seconds = rate and spacing_wait(1 / rate) or 0
  if seconds > 0 then
    set('unhindered_since', clock)
  end
  return seconds
end

local function successes_of_the_last(seconds)
  return redis.call('ZCOUNT', SUCCEEDED, '(' .. exact(clock - seconds), '+inf')
end

local function learn_rate()
  local measured, rate = successes_of_the_last(RULES.second_seconds), number('rate')
  if measured < RULES.few_successes then
    measured = math.max(measured, successes_of_the_last(RULES.long_measure_seconds) / RULES.long_measure_seconds)
  end
  if measured > 0 then
    set('rate', math.max(RULES.least_rate, RULES.rate_share * measured))
  elseif rate then
    set('rate', math.max(RULES.least_rate, RULES.rate_share * rate))
  end
  set('unhindered_since', clock)
end

local function count_success(slot)
  redis.call('HINCRBY', STATE, 'successes', 1)
  redis.call('ZADD', SUCCEEDED, exact(clock), slot)
  redis.call('ZREMRANGEBYSCORE', SUCCEEDED, '-inf', exact(clock - RULES.long_measure_seconds))
end

-- The tokens of the last minute: their seconds in order, and what each has; older ones are forgotten.
local function recent_tokens()
  local flat, seconds, tokens, sum = redis.call('HGETALL', TOKENS), {}, {}, 0
  for index = 1, #flat, 2 do
    local second = tonumber(flat[index])
    if second > clock - RULES.second_seconds - RULES.minute_seconds then
      tokens[second] = tonumber(flat[index + 1])
      seconds[#seconds + 1] = second
      sum = sum + tokens[second]
    else
      redis.call('HDEL', TOKENS, flat[index])
    end
  end
  table.sort(seconds)
  return seconds, tokens, sum
end

local function token_wait(asked, most)
  local seconds, tokens, sum = recent_tokens()
  local wait = 0
  for _, second in ipairs(seconds) do
    if sum + asked <= most or sum <= 0 then
      break
    end
    sum = sum - tokens[second]
    wait = second + RULES.second_seconds + RULES.minute_seconds - clock
  end
  return wait
end

local function second_of(moment)
  return string.format('%.0f', math.floor(moment))
end

local function count_tokens(tokens)
  if tokens > 0 then
    recent_tokens()
    redis.call('HINCRBY', TOKENS, second_of(clock), tokens)
  end
end

-- Puts what was used in the place of what was granted: in_minute for the gate, spent for the run.
local function settle_tokens(record, in_minute, spent)
  local second, granted = second_of(tonumber(record.granted_at)), tonumber(record.tokens)
  if redis.call('HEXISTS', TOKENS, second) == 1 then
    redis.call('HINCRBY', TOKENS, second, in_minute - granted)
  end
  if record.run ~= '' then
    redis.call('HINCRBY', RUN, 'spent', spent - granted)
  end
end
