-- Stands before every script but those that a state that was set back can be asked and opened with.
if SET_BACK then
  return redis.error_reply('SETBACK')
end
if TOKEN ~= '' and not is_held('producer', TOKEN) then
  return redis.error_reply('NOTLEADER')
end
-----------------------------------------------------------------------------------------------------------------------------------------------
