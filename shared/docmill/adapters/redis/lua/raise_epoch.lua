-- at_least -> epoch. All leases are void from now on: their score is older than any time.
local epoch = math.max(EPOCH + 1, tonumber(ARGV[1]))
redis.call('HSET', META, 'epoch', int(epoch), 'attempts', 0, 'tickets', 0)
redis.call('ZUNIONSTORE', LEASES, 1, LEASES, 'WEIGHTS', 0)
return epoch
