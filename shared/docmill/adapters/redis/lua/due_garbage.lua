-- grace in ms, limit -> generation|deleted_once|chunks|document...
local limit, due, offset = tonumber(ARGV[2]), {}, 0
local noted_until = int(NOW - tonumber(ARGV[1]))
while #due < limit do
  local generations = redis.call('ZRANGEBYSCORE', GARBAGE_TIMES, '-inf', noted_until, 'LIMIT', offset, 200)
  for _, generation in ipairs(generations) do
    local packed = redis.call('HGET', GARBAGE, generation)
    local _, _, document = parse_garbage(packed)
    if #due < limit and not is_live(document, generation) and not is_leased_by(document, generation) then
      due[#due + 1] = generation .. '|' .. packed
    end
  end
  if #generations < 200 then
    break
  end
  offset = offset + 200
end
return due
