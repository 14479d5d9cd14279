-- documents (one a line) -> those that are failed or quarantined, one a line
local wanted = {}
for document in string.gmatch(ARGV[1], '[^\n]+') do
  local failed = false
  for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
    local packed = redis.call('HGET', ENTRIES .. set, document)
    local state = packed and string.sub(packed, 1, 1)
    failed = failed or state == 'F' or state == 'Q'
    if state == 'Q' then
      put_entry(set, document, 'F' .. string.sub(packed, 2), 'F', 'Q')
      suspect(document)
    end
  end
  if failed then
    wanted[#wanted + 1] = document
    if redis.call('HEXISTS', SUSPECTS, document) == 1 then
      redis.call('HSET', SUSPECTS, document, '0||')
    end
  end
end
return table.concat(wanted, '\n')
