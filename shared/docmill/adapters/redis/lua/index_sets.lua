-- -> the index sets that have entries, then the served one ('' for none)
local found = {}
for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
  if redis.call('EXISTS', ENTRIES .. set) == 1 then
    found[#found + 1] = set
  end
end
found[#found + 1] = redis.call('HGET', META, 'served') or ''
return found
