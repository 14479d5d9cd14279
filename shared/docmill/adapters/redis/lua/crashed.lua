-- document, generation, ticket, run, fingerprint, stat, reason, how many crashes quarantine, counters
-- -> '-' superseded; the same ticket when the document waits again; else as finish: '' or the new live ticket
local document, generation, ticket, run, fingerprint, stat, reason, most, counters = unpack(ARGV)
if not holds(document, generation) then
  return '-'
end
local crashes = 1
local known = redis.call('HGET', SUSPECTS, document)
if known then
  local before, of = string.match(known, '^(%d+)|([^|]*)|')
  if of == fingerprint then
    crashes = tonumber(before) + 1
  end
end
if crashes < tonumber(most) then
  redis.call('HSET', SUSPECTS, document, int(crashes) .. '|' .. fingerprint .. '|')
  return wait_again(document)
end
redis.call('HSET', SUSPECTS, document, int(crashes) .. '|' .. fingerprint .. '|' .. reason)
put_failed(document, 'Q', stat, reason)
count(run, counters)
return end_attempt(document, ticket)
