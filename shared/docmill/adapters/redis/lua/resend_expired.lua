-- limit, whether they are suspects (1 or 0) -> (ticket \n document)...; each waits again
local messages = {}
for _, document in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', int(NOW), 'LIMIT', 0, ARGV[1])) do
  if ARGV[2] == '1' then
    suspect(document)
  end
  messages[#messages + 1] = wait_again(document) .. '\n' .. document
end
return messages
