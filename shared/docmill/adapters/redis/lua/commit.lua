-- (document \n generation \n ticket \n run \n state \n stat \n size \n fingerprint \n chunks \n counters \n reason)...
-- -> for each, joined by commas: '-' superseded, '' committed, or the new live ticket

-- The index sets that the commit touches, in order, with its counts in each and the entries that are there.
local function touched(document, state, chunks)
  local sets, counts, packed = {}, {}, {}
  if state == 'G' then
    for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
      local entry = redis.call('HGET', ENTRIES .. set, document)
      if entry then
        sets[#sets + 1], counts[#sets + 1], packed[#sets + 1] = set, '', entry
      end
    end
  else
    for set, of_set in string.gmatch(chunks, '([^:;]+):([^;]*)') do
      sets[#sets + 1], counts[#sets + 1], packed[#sets + 1] = set, of_set, redis.call('HGET', ENTRIES .. set, document)
    end
  end
  return sets, counts, packed
end

local function commit(item)
  local document, generation, ticket, run, state, stat, size, fingerprint, chunks, counters, reason = string.match(item,
    '^([^\n]*)\n(%d+)\n(%d+)\n([^\n]*)\n(%u)\n([^\n]*)\n(%d+)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  if not holds(document, generation) then
    return '-'
  end
  local sets, counts, packed = touched(document, state, chunks)
  for place = 1, #sets do
    local live = packed[place] and live_generation(packed[place]) or ''
    if live ~= '' and tonumber(live) >= tonumber(generation) then
      return '-'
    end
  end
  if #sets > 0 then
    local number = int(redis.call('HINCRBY', META, 'commits', 1)) .. string.format('@%x', math.floor(NOW / 1000))
    forget_garbage(generation)
    for place, set in ipairs(sets) do
      local old_state, previous = nil, NO_VERSION
      if packed[place] then
        local _
        old_state, _, _, _, previous = parse_entry(packed[place])
      end
      if previous ~= NO_VERSION then
        local old_generation, old_counts = string.match(previous, '^(%d+)|[^|]*|[^|]*|([^|]*)$')
        note_replaced(document, old_generation, set, old_counts)
        count_chunks(set, old_counts, '-')
      end
      local version = table.concat({generation, number, fingerprint, counts[place]}, '|')
      put_entry(set, document, pack_entry(state, stat, size, '0', version, previous, reason), state, old_state)
      count_chunks(set, counts[place], '')
    end
    if state == 'G' then
      counters = 'removed=1,' .. counters
    end
  end
  count(run, counters)
  redis.call('HDEL', SUSPECTS, document)
  return end_attempt(document, ticket)
end

local results = {}
for place, item in ipairs(ARGV) do
  results[place] = commit(item)
end
return table.concat(results, ',')
