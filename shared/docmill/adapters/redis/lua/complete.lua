-- run -> 1 when it has ended, else 0
local key = RUN .. ARGV[1]
local state, pending = unpack(redis.call('HMGET', key, 'state', 'pending'))
if not state or is_final(state) then
  return 1
end
if state ~= 'indexing' or tonumber(pending) > 0 then
  return 0
end
local ended = 'complete'
local fields = redis.call('HGETALL', key)
for place = 1, #fields, 2 do
  if string.sub(fields[place], 1, 9) == 'c:failed.' and tonumber(fields[place + 1]) > 0 then
    ended = 'complete_with_errors'
  end
end
redis.call('HSET', key, 'state', ended, 'finished_ms', int(NOW))
redis.call('HSET', META, 'last_complete_run', ARGV[1])
forget_runs()
return 1
