-- nothing; or set, document... -> epoch, commit number, served index set ('' for none), entries of the ledger,
-- when the last complete run ended ('' for never), 1 when it was set back, else 0; packed entry or nil...
if SET_BACK and ARGV[1] then
  return redis.error_reply('SETBACK')
end
local found = redis.call('HMGET', META, 'commits', 'served', 'last_complete_run')
local finished = found[3] and redis.call('HGET', RUN .. found[3], 'finished_ms')
local reply = {int(EPOCH), found[1] or '0', found[2] or '', redis.call('HLEN', LEDGER), finished or '', SET_BACK and 1 or 0}
if ARGV[1] then
  for_each_value(ENTRIES .. ARGV[1], ARGV, 2, function(packed)
    reply[#reply + 1] = packed
  end)
end
return reply
