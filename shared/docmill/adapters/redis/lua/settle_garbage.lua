-- (generation|deleted_once|chunks|document)... as due_garbage returned them
for _, item in ipairs(ARGV) do
  local generation, packed = string.match(item, '^(%d+)|(.*)$')
  if redis.call('HGET', GARBAGE, generation) == packed then
    local deleted_once, chunks, document = parse_garbage(packed)
    if deleted_once == '1' or chunks == '-' then
      forget_garbage(generation)
    else
      put_garbage(generation, '1', chunks, document)
    end
  end
end
return 1
