-- Closes the gate as a refusal would. ARGV: clock, then the waits after the first, second, ... refusal in a row.
-- Returns {change, seconds until it opens or ''}.
if field('opens_at') then
  return {'none', ''}
end
local answer = close(2)
expire_later()
return answer
