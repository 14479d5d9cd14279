-- run
if redis.call('HGET', RUN .. ARGV[1], 'state') == 'scanning' then
  redis.call('HSET', RUN .. ARGV[1], 'state', 'indexing')
end
return 1
