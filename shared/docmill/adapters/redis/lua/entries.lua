-- set, document... -> epoch, packed entry or nil...
local reply = {int(EPOCH)}
for_each_value(ENTRIES .. ARGV[1], ARGV, 2, function(packed)
  reply[#reply + 1] = packed
end)
return reply
