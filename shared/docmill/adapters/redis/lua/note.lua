-- note(key, text?): keeps a text; without one it is forgotten.
if ARGV[2] then
  redis.call('HSET', NOTES, ARGV[1], ARGV[2])
else
  redis.call('HDEL', NOTES, ARGV[1])
end
return 1
