-- document, generation, key... -> '1' all are claimed; '0' another attempt has one of them, and nothing is; '-' the lease is lost
local document, generation = ARGV[1], ARGV[2]
if not holds(document, generation) then
  return '-'
end
for place = 3, #ARGV do
  local claim = redis.call('HGET', CLAIMS, ARGV[place])
  if claim then
    local holder, of = string.match(claim, '^(%d+)\n(.*)$')
    if holder ~= generation and holds(of, holder) then
      return '0'
    end
  end
end
local keys = {redis.call('HGET', CLAIMED, document) or nil}
for place = 3, #ARGV do
  redis.call('HSET', CLAIMS, ARGV[place], generation .. '\n' .. document)
  keys[#keys + 1] = ARGV[place]
end
if #keys > 0 then
  redis.call('HSET', CLAIMED, document, table.concat(keys, ','))
end
return '1'
