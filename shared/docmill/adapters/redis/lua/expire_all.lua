redis.call('ZUNIONSTORE', LEASES, 1, LEASES, 'WEIGHTS', 0)
return 1
