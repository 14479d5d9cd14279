-- Whose turn it is: the knowledge bases that ask share the slots, and where these or the rate are scarce they take turns.
local function read_asker(text)
  local parts = {}
  for part in string.gmatch(text, '%S+') do
    parts[#parts + 1] = tonumber(part)
  end
  return {asked = parts[1], starts_at = parts[2], top = parts[3], waits_until = parts[4], granted = parts[5]}
end

local function write_asker(kb, asker)
  local parts = {exact(asker.asked), asker.starts_at, asker.top, exact(asker.waits_until), asker.granted}
  redis.call('HSET', ASKERS, kb, table.concat(parts, ' '))
end

local function read_askers()
  local flat, askers = redis.call('HGETALL', ASKERS), {}
  for index = 1, #flat, 2 do
    local asker = read_asker(flat[index + 1])
    if clock - asker.asked < RULES.forget_asker_seconds then
      askers[flat[index]] = asker
    else
      redis.call('HDEL', ASKERS, flat[index])
    end
  end
  return askers
end

-- Notes who asks and with which ceiling, and what follows for the gate's own limit; returns all who asked lately.
local function note_asker(kb, ceiling)
  local askers = read_askers()
  local before = askers[kb] or {waits_until = 0, granted = 0}
  askers[kb] = {
    asked = clock,
    starts_at = ceiling or RULES.learning_starts_at,
    top = ceiling or RULES.highest_limit,
    waits_until = before.waits_until,
    granted = before.granted,
  }
  local starts_at, most = 0, 0
  for _, asker in pairs(askers) do
    if clock - asker.asked < RULES.ceiling_seconds then
      starts_at, most = math.max(starts_at, asker.starts_at), math.max(most, asker.top)
    end
  end
  redis.call('HSET', STATE, 'starts_at', starts_at, 'top', most)
  write_asker(kb, askers[kb])
  return askers
end

local function taken_by_kb()
  local taken = {}
  for _, record in ipairs(redis.call('HVALS', SLOTS)) do
    local kb = cjson.decode(record).kb
    taken[kb] = (taken[kb] or 0) + 1
  end
  return taken
end

local function keeps_its_turn(asker)
  if clock > asker.waits_until + RULES.patience_seconds then
    return false
  end
  return clock - asker.asked <= RULES.busy_seconds or asker.waits_until <= clock + RULES.slot_poll_seconds
end

local function share_of(limit, askers)
  local busy = 0
  for _, asker in pairs(askers) do
    if clock - asker.asked <= RULES.busy_seconds then
      busy = busy + 1
    end
  end
  return math.ceil(limit / math.max(1, busy))
end

local function was_earlier(name, asker, kb, me)
  if asker.granted ~= me.granted then
    return asker.granted < me.granted
  end
  return name < kb
end

-- The moment when the first of those asks again for whom kb has to wait; nil where it has to for nobody.
local function first_goes_at(kb, askers, taken, limit, room)
  local share, me = share_of(limit, askers), askers[kb]
  local over_share = (taken[kb] or 0) >= share
  local count, first = 0, nil
  for name, asker in pairs(askers) do
    local waits = name ~= kb and keeps_its_turn(asker) and (taken[name] or 0) < math.min(share, asker.top)
    if waits and (over_share or was_earlier(name, asker, kb, me)) then
      count = count + 1
      first = math.min(first or asker.waits_until, asker.waits_until)
    end
  end
  if count > 0 and (over_share or count >= room) then
    return first
  end
  return nil
end

-- A request waits while all slots are taken; where the rate has hindered none for long, what was learned of it is forgotten.
local function note_slots_wanted(seconds)
  local wanted_until = number('wanted_until')
  if not wanted_until or clock > wanted_until then
    set('wanted_since', clock)
  end
  if not wanted_until or clock - wanted_until > RULES.unhindered_gap_seconds then
    set('unhindered_since', clock)
  end
  set('wanted_until', clock + seconds + RULES.demand_gap_seconds)
  if clock - (number('unhindered_since') or 0) >= RULES.forget_rate_seconds then
    redis.call('HDEL', STATE, 'rate')
  end
end
