-- limit -> (ticket \n document)...
local messages = {}
for _, document in ipairs(redis.call('ZRANGEBYSCORE', WAITING, '-inf', '+inf', 'LIMIT', 0, ARGV[1])) do
  messages[#messages + 1] = ledger_entry(document) .. '\n' .. document
end
return messages
