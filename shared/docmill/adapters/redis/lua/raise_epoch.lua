-- at_least, 1 to raise it only where the state was set back -> the new epoch, or 0
-- All leases are void from now on: their score is older than any time.
if ARGV[2] == '1' and not SET_BACK then
  return 0
end
local epoch = math.max(EPOCH + 1, tonumber(ARGV[1]))
redis.call('HSET', META, 'epoch', int(epoch), 'attempts', 0, 'tickets', 0, 'server', SERVER)
redis.call('ZUNIONSTORE', LEASES, 1, LEASES, 'WEIGHTS', 0)
redis.call('DEL', CLAIMS, CLAIMED)
return epoch
