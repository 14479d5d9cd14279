-- Closes the gate for a time that the number of refusals chooses among the arguments from the first_wait-th on.
-- Returns {change, seconds until it opens}.
local function close(first_wait)
  local first = not field('opens_at')
  local failures = redis.call('HINCRBY', STATE, 'failures', 1)
  local seconds = tonumber(ARGV[math.min(first_wait + failures - 1, #ARGV)])
  if first then
    half_the_limit()
  end
  set('opens_at', clock + seconds)
  raise_epoch()
  return {first and 'closed' or 'closed_again', exact(seconds)}
end
