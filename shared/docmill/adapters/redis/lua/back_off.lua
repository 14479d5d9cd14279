-- run, until when in ms, or '' when it does not back off any more; what the run was before goes on below
local key = RUN .. ARGV[1]
local state = redis.call('HGET', key, 'state')
if not state or is_final(state) then
  return 0
end
if ARGV[2] == '' then
  redis.call('HDEL', key, 'retry_ms')
else
  redis.call('HSET', key, 'retry_ms', ARGV[2])
end
return 1
