-- Closes the gate as a refusal would. ARGV: clock, run ('' where it is closed for no run), then the waits after the first, second, ...
-- refusal in a row. Returns {change, seconds until it opens or ''}.
local is_to_blame = ARGV[2] == '' or tonumber(of_run('failures') or 0) > 0
if field('opens_at') or not is_to_blame then
  return {'none', ''}
end
local answer = close(3)
expire_later()
return answer
