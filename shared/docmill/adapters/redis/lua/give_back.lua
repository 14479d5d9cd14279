-- (document \n generation)... -> (ticket \n document)... of those that held their lease; each waits again.
-- With a run that has ended what it planned ends, too: nobody sends it again, except for a document that was changed meanwhile.
local messages = {}
for _, item in ipairs(ARGV) do
  local document, generation = string.match(item, '^([^\n]*)\n(%d+)$')
  if holds(document, generation) then
    local ticket = wait_again(document)
    local _, _, _, _, run = ledger_entry(document)
    local state = run_is_known(run) and redis.call('HGET', RUN .. run, 'state')
    if not (state and is_final(state)) or leave_run(document) then
      messages[#messages + 1] = ticket .. '\n' .. document
    end
  end
end
return messages
