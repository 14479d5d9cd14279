-- documents (one a line) -> crashes|fingerprint|reason or nil for each
local documents, found = {}, {}
for document in string.gmatch(ARGV[1], '[^\n]+') do
  documents[#documents + 1] = document
end
for_each_value(SUSPECTS, documents, 1, function(packed)
  found[#found + 1] = packed
end)
return found
