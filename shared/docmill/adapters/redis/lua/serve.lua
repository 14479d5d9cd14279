-- set
redis.call('HSET', META, 'served', ARGV[1])
return 1
