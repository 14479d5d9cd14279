-- set -> its counts, a flat hash: 's:' and a state's letter, 'c:' and a strategy
return redis.call('HGETALL', COUNTS .. ARGV[1])
