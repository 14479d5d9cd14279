-- lane, run, documents (one a line) -> new tickets, joined by commas; '' for a document without a new one
if EPOCH == 0 then
  return redis.error_reply('NOTOPEN')
end
local lane, run = ARGV[1], ARGV[2]
local run_state = run ~= '' and redis.call('HGET', RUN .. run, 'state')
if run_state and is_final(run_state) then
  return ''
end
local minted, planned, tickets = tonumber(redis.call('HGET', META, 'tickets') or 0), 0, {}
for document in string.gmatch(ARGV[3], '[^\n]+') do
  local ticket = ''
  if is_leased(document) then
    redis.call('SADD', DIRTY, document)
  else
    local found, found_lane, generation, _, found_run = ledger_entry(document)
    local overtakes = found and lane == 'l' and found_lane == 'b' and generation == ''
    if overtakes then
      count_pending(found_run, -1)
    end
    if found and generation ~= '' then
      redis.call('SADD', DIRTY, document) -- its lease ran out, and it was not sent again yet
    end
    if not found or overtakes then
      minted, planned = minted + 1, planned + 1
      ticket = numbered(minted)
      plan(document, lane, run, ticket)
    end
  end
  tickets[#tickets + 1] = ticket
end
if planned > 0 then
  redis.call('HSET', META, 'tickets', int(minted))
  count_pending(run, planned)
end
return table.concat(tickets, ',')
