-- documents (one a line) -> a 1 for each that has an entry in the ledger, else a 0
local flags = {}
for document in string.gmatch(ARGV[1], '[^\n]+') do
  flags[#flags + 1] = redis.call('HEXISTS', LEDGER, document) == 1 and '1' or '0'
end
return table.concat(flags)
