-- set, key of a note, the text that it must hold -> 1, or 0 when it holds another
if redis.call('HGET', NOTES, ARGV[2]) ~= ARGV[3] then
  return 0
end
redis.call('HDEL', NOTES, ARGV[2])
redis.call('HSET', META, 'served', ARGV[1])
return 1
