-- run -> 1 or 0
return redis.call('HDEL', RUN .. ARGV[1], 'wants_another_pass')
