-- nothing; or set, document... -> epoch, commit number, served index set ('' for none), entries of the ledger,
-- when the last complete run ended ('' for never); packed entry or nil...
local found = redis.call('HMGET', META, 'commits', 'served', 'last_complete_run')
local finished = found[3] and redis.call('HGET', RUN .. found[3], 'finished_ms')
local reply = {int(EPOCH), found[1] or '0', found[2] or '', redis.call('HLEN', LEDGER), finished or ''}
if ARGV[1] then
  for_each_value(ENTRIES .. ARGV[1], ARGV, 2, function(packed)
    reply[#reply + 1] = packed
  end)
end
return reply
