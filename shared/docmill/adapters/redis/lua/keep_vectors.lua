-- seconds to keep them, then key and vector of each text
for place = 2, #ARGV, 2 do
  redis.call('SET', KEPT .. ARGV[place], ARGV[place + 1], 'EX', ARGV[1])
end
return 1
