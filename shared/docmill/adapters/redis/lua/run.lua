-- 'id', run; or 'last_run'; or 'last_complete_run' -> its id; its hash, flat; or nothing
local run = ARGV[1] == 'id' and ARGV[2] or redis.call('HGET', META, ARGV[1])
if not run or redis.call('EXISTS', RUN .. run) == 0 then
  return {}
end
return {run, redis.call('HGETALL', RUN .. run)}
