-- set, documents (one a line) -> stat signatures, one a line: '|' for none, '' for one that must be read again
local documents, stats = {}, {}
for document in string.gmatch(ARGV[2], '[^\n]+') do
  documents[#documents + 1] = document
end
for_each_value(ENTRIES .. ARGV[1], documents, 1, function(packed)
  local stat = '|'
  if packed then
    local state, read, marked = string.match(packed, '^(%u)|([^|]*)|%d*|([01])')
    if state ~= 'G' and state ~= 'F' then
      stat = marked == '1' and '' or read
    end
  end
  stats[#stats + 1] = stat
end)
return table.concat(stats, '\n')
