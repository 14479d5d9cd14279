-- How the gate stands. ARGV: clock. Returns {state, opens_at or '', failures, '1' where it is closed and may be tried, else '0'}.
local opens_at, probe_until = field('opens_at'), number('probe_until')
local state = 'open'
if opens_at then
  state = probe_until and clock < probe_until and 'probing' or 'closed'
end
local may_be_tried = state == 'closed' and clock >= tonumber(opens_at)
return {state, state == 'closed' and opens_at or '', field('failures') or '0', may_be_tried and '1' or '0'}
