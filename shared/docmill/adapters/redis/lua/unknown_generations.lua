-- set, (generation \n document)... -> a 1 for each that is unknown, else a 0
if EPOCH == 0 then
  return redis.error_reply('NOTOPEN')
end
local unknown = {}
for place = 2, #ARGV do
  local generation, document = string.match(ARGV[place], '^(%d+)\n(.*)$')
  local packed = redis.call('HGET', ENTRIES .. ARGV[1], document)
  local known = (packed and live_generation(packed) == generation)
    or redis.call('HEXISTS', GARBAGE, generation) == 1
    or is_leased_by(document, generation)
  unknown[#unknown + 1] = known and '0' or '1'
end
return table.concat(unknown)
