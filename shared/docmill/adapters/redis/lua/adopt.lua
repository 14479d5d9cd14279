-- set, role, token, (document \n packed entry)... -> 1, or 0 when the state is open or the role is held by another token
if EPOCH ~= 0 or not is_held(ARGV[2], ARGV[3]) then
  return 0
end

local function live_counts(live)
  return string.match(live, '|([^|]*)$')
end

for place = 4, #ARGV do
  local document, packed = string.match(ARGV[place], '^([^\n]*)\n(.*)$')
  local old_state
  local old = redis.call('HGET', ENTRIES .. ARGV[1], document)
  if old then
    local _, old_live
    old_state, _, _, _, old_live = parse_entry(old)
    count_chunks(ARGV[1], live_counts(old_live), '-')
  end
  local state, _, _, _, live = parse_entry(packed)
  put_entry(ARGV[1], document, packed, state, old_state)
  count_chunks(ARGV[1], live_counts(live), '')
end
return 1
