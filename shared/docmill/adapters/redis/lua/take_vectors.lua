-- key... -> the vector that is kept of each, '' where none is; they are kept no more
local vectors = {}
for place = 1, #ARGV do
  vectors[place] = redis.call('GET', KEPT .. ARGV[place]) or ''
  if vectors[place] ~= '' then
    redis.call('DEL', KEPT .. ARGV[place])
  end
end
return vectors
