-- limit -> (ticket \n document)...; each waits again
local messages = {}
for _, document in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', int(NOW), 'LIMIT', 0, ARGV[1])) do
  redis.call('ZREM', LEASES, document)
  local ticket, lane, _, tries, run = ledger_entry(document)
  redis.call('HSET', LEDGER, document, table.concat({ticket, lane, '', tries, run}, '|'))
  redis.call('ZADD', WAITING, ticket, document)
  messages[#messages + 1] = ticket .. '\n' .. document
end
return messages
