-- How many requests may be in flight: the same arithmetic as docmill.domain.gate_rules.
local function stored_climb()
  local names = {'limit', 'half', 'began', 'answers', 'from_limit', 'from_rate', 'next_try'}
  local values = redis.call('HMGET', STATE, unpack(names))
  local climb = {}
  for index, name in ipairs(names) do
    climb[name] = tonumber(values[index] or 0)
  end
  return climb
end

local function store_climb(limit, half, began, answers, from_limit, from_rate, next_try)
  redis.call('HSET', STATE, 'limit', limit, 'half', half, 'began', exact(began or 0), 'answers', answers or 0,
    'from_limit', from_limit or 0, 'from_rate', exact(from_rate or 0), 'next_try', exact(next_try or 0))
end

local function top()
  return number('top') or RULES.highest_limit
end

local function bounded(climb)
  local limit = climb.limit
  if climb.half == 0 then
    limit = math.max(limit, number('starts_at') or RULES.learning_starts_at)
  end
  return math.min(top(), limit)
end

local function gate_limit()
  return bounded(stored_climb())
end

local function half_the_limit()
  local limit = gate_limit()
  store_climb(limit, math.max(1, math.floor(limit / 2)))
end

local function restart_at_one()
  store_climb(1, stored_climb().half)
end

local function wanted_since()
  local wanted_until = number('wanted_until')
  if wanted_until and clock <= wanted_until then
    return number('wanted_since')
  end
  return nil
end

local function climb_after_success(full)
  local climb, most = stored_climb(), top()
  local limit, half, tries, since = bounded(climb), climb.half, climb.from_limit > 0, wanted_since()
  if limit < math.min(half, most) then
    if full then
      store_climb(limit + 1, half, climb.began, climb.answers, climb.from_limit, climb.from_rate, climb.next_try)
    end
    return
  end
  if clock < climb.next_try or (limit >= most and not tries) then
    return
  end
  if not since or climb.began < since then
    return store_climb(limit, half, clock, 0, climb.from_limit, climb.from_rate, climb.next_try)
  end
  local answers, seconds = climb.answers + 1, clock - climb.began
  if seconds < RULES.stretch_seconds or answers < 2 * limit then
    return store_climb(limit, half, climb.began, answers, climb.from_limit, climb.from_rate, climb.next_try)
  end
  local rate = answers / seconds
  if tries and rate < RULES.gain * climb.from_rate then
    return store_climb(climb.from_limit, half, 0, 0, 0, 0, clock + RULES.try_again_seconds)
  end
  if limit >= most then
    return store_climb(limit, half)
  end
  store_climb(math.min(most, limit + math.max(1, math.floor(limit / 4))), half, clock, 0, limit, rate)
end
