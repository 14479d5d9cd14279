-- How the gate stands. ARGV: clock. Returns {state, opens_at or '', failures}.
local opens_at, probe_until = field('opens_at'), number('probe_until')
local state = 'open'
if opens_at then
  state = probe_until and clock < probe_until and 'probing' or 'closed'
end
return {state, state == 'closed' and opens_at or '', field('failures') or '0'}
