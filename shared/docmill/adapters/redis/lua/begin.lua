-- document, ticket, time to live in ms -> generation|lane|tries|known|run, and \n crashes|fingerprint|reason for a suspect;
-- '' when nothing begins
if EPOCH == 0 then
  return redis.error_reply('NOTOPEN')
end
local document = ARGV[1]
local ticket, lane, earlier, tries, run = ledger_entry(document)
if ticket ~= ARGV[2] then
  return ''
end
if is_leased(document) then
  redis.call('SADD', DIRTY, document)
  return ''
end
if earlier ~= '' then
  suspect(document) -- its lease ran out, and this message came before it was sent again
end
redis.call('SREM', DIRTY, document)
local generation = numbered(redis.call('HINCRBY', META, 'attempts', 1))
tries = int(tonumber(tries) + 1)
redis.call('HSET', LEDGER, document, table.concat({ticket, lane, generation, tries, run}, '|'))
redis.call('ZREM', WAITING, document)
redis.call('ZADD', LEASES, int(NOW + tonumber(ARGV[3])), document)
put_garbage(generation, '0', '-', document)
local known = 0
for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
  known = known + redis.call('HEXISTS', ENTRIES .. set, document)
end
local suspicion = redis.call('HGET', SUSPECTS, document)
return table.concat({generation, lane, tries, int(known), run}, '|') .. (suspicion and '\n' .. suspicion or '')
