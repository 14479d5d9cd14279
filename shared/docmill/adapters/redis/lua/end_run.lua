-- run, state, error -> the documents whose waiting tickets were removed, oldest first.
-- A document that was changed while it was in work keeps its ticket, which belongs to no run any more.
local run = ARGV[1]
local state = redis.call('HGET', RUN .. run, 'state')
if not state or is_final(state) then
  return {}
end
redis.call('HSET', RUN .. run, 'state', ARGV[2], 'error', ARGV[3], 'finished_ms', int(NOW))
local dropped = {}
for _, document in ipairs(redis.call('ZRANGE', WAITING, 0, -1)) do
  local _, _, _, _, planned_by = ledger_entry(document)
  if planned_by == run and not leave_run(document) then
    dropped[#dropped + 1] = document
  end
end
return dropped
