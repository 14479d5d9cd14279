-- run, state, error -> the documents whose waiting tickets were removed, oldest first.
-- A document that was changed while it was in work keeps its ticket, which belongs to no run any more.
local run = ARGV[1]
local state = redis.call('HGET', RUN .. run, 'state')
if not state or is_final(state) then
  return {}
end
redis.call('HSET', RUN .. run, 'state', ARGV[2], 'error', ARGV[3], 'finished_ms', int(NOW))
local dropped, left = {}, 0
for _, document in ipairs(redis.call('ZRANGE', WAITING, 0, -1)) do
  local ticket, lane, generation, tries, planned_by = ledger_entry(document)
  if planned_by == run then
    left = left + 1
    if redis.call('SISMEMBER', DIRTY, document) == 1 then
      redis.call('HSET', LEDGER, document, table.concat({ticket, lane, generation, tries, ''}, '|'))
    else
      redis.call('HDEL', LEDGER, document)
      redis.call('ZREM', WAITING, document)
      dropped[#dropped + 1] = document
    end
  end
end
count_pending(run, -left)
return dropped
