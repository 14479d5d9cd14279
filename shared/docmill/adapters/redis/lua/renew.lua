-- time to live in ms, (document \n generation)... -> a 1 or 0 for each
local expires, renewed = int(NOW + tonumber(ARGV[1])), {}
for place = 2, #ARGV do
  local document, generation = string.match(ARGV[place], '^([^\n]*)\n(%d+)$')
  local ours = holds(document, generation)
  if ours then
    redis.call('ZADD', LEASES, expires, document)
  end
  renewed[#renewed + 1] = ours and '1' or '0'
end
return table.concat(renewed)
