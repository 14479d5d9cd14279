-- document, generation, ticket, run, stat, unchanged (set:fingerprint;set:fingerprint), reason of a failure or '', counters
-- -> '-' superseded, '' ended, or the new live ticket
local document, generation, ticket, run, stat, unchanged, failed, counters = unpack(ARGV)
if not holds(document, generation) then
  return '-'
end

for set, fingerprint in string.gmatch(unchanged, '([^:;]+):([^;]*)') do
  local packed = redis.call('HGET', ENTRIES .. set, document)
  if packed then
    local state, _, size, marked, live, previous, reason = parse_entry(packed)
    local live_fingerprint, chunks = string.match(live, '^%d+|[^|]*|([^|]*)|([^|]*)$')
    if live_fingerprint == fingerprint then
      local new_state = state
      if state == 'F' or state == 'Q' then
        new_state, reason = string.find(chunks, '=[1-9]') and 'L' or 'E', ''
      end
      local refreshed = pack_entry(new_state, stat, size, marked, live, previous, reason)
      if new_state == state then
        redis.call('HSET', ENTRIES .. set, document, refreshed)
      else
        put_entry(set, document, refreshed, new_state, state)
      end
    end
  end
end

if failed == '' then
  redis.call('HDEL', SUSPECTS, document)
else
  put_failed(document, string.match(failed, '^quarantined:') and 'Q' or 'F', stat, failed)
end
count(run, counters)
return end_attempt(document, ticket)
