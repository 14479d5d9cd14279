-- (document \n generation)... -> (ticket \n document)... of those that held their lease; each waits again
local messages = {}
for _, item in ipairs(ARGV) do
  local document, generation = string.match(item, '^([^\n]*)\n(%d+)$')
  if holds(document, generation) then
    messages[#messages + 1] = wait_again(document) .. '\n' .. document
  end
end
return messages
