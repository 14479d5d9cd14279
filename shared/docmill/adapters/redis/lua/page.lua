-- set, after, how many documents to look at, wanted states (letters) -> the last document looked at ('' at the end), then document, entry...
local set, after, states = ARGV[1], ARGV[2], ARGV[4]
local documents = redis.call('ZRANGEBYLEX', IDS .. set, after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, ARGV[3])
local reply = {#documents == tonumber(ARGV[3]) and documents[#documents] or ''}
local place = 0
for_each_value(ENTRIES .. set, documents, 1, function(packed)
  place = place + 1
  if string.find(states, string.sub(packed, 1, 1), 1, true) then
    reply[#reply + 1] = documents[place]
    reply[#reply + 1] = packed
  end
end)
return reply
