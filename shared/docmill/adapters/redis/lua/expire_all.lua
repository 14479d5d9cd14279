redis.call('ZUNIONSTORE', LEASES, 1, LEASES, 'WEIGHTS', 0)
redis.call('DEL', ROLES)
return 1
