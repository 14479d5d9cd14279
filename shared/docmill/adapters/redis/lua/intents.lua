-- (document \n generation \n chunks)... -> a 1 or 0 for each
local recorded = {}
for place, item in ipairs(ARGV) do
  local document, generation, chunks = string.match(item, '^([^\n]*)\n(%d+)\n(.*)$')
  recorded[place] = '0'
  if holds(document, generation) then
    redis.call('HSET', GARBAGE, generation, '0|' .. chunks .. '|' .. document)
    recorded[place] = '1'
  end
end
return table.concat(recorded)
