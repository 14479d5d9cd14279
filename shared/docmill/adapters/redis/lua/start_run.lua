-- the knowledge base's tag -> '1' for a new run, else '0'; its id; its hash, flat
if EPOCH == 0 then
  return redis.error_reply('NOTOPEN')
end
local run, new = redis.call('HGET', META, 'last_run'), '0'
local state = run and redis.call('HGET', RUN .. run, 'state')
if state and not is_final(state) then
  redis.call('HSET', RUN .. run, 'wants_another_pass', '1')
else
  local number = int(redis.call('HINCRBY', META, 'runs', 1))
  run, new = table.concat({int(EPOCH), number, ARGV[1]}, '-'), '1'
  redis.call('HSET', RUN .. run, 'state', 'scanning', 'started_ms', int(NOW), 'pending', '0')
  redis.call('ZADD', RUNS, number, run)
  redis.call('HSET', META, 'last_run', run)
  forget_runs()
end
return {new, run, redis.call('HGETALL', RUN .. run)}
