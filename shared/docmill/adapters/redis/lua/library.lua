-- Stands before every script of the protocol state, after the names of the keys, which keys.py writes.
-- Numbers become text by int() alone: Lua prints a generation as 1.7e+15.

-- The last two arguments of every script: the token under which a producer writes, '' for all others; and the run id of the server as the
-- connection saw it when it was made, '' where a server has none.
local SERVER = table.remove(ARGV)
local TOKEN = table.remove(ARGV)

local meta = redis.call('HMGET', META, 'epoch', 'clock_offset_ms', 'server')
local EPOCH = tonumber(meta[1] or 0)
-- Another server than the one that opened this epoch has the state, or the same one after a restart: what was done last may be lost.
local SET_BACK = EPOCH > 0 and SERVER ~= '' and meta[3] ~= SERVER

local clock = redis.call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000) + tonumber(meta[2] or 0)

local function int(number)
  return string.format('%.0f', number)
end

local function numbered(counter)
  return int(EPOCH * 8589934592 + counter)
end

-- Leases -----------------------------------------------------------------------------------------------------------------------------------

local function is_leased(document)
  local expires = redis.call('ZSCORE', LEASES, document)
  return expires and tonumber(expires) > NOW
end

-- The ledger's entry is also the record of who holds the lease: ticket, lane, generation, tries, run.
local function ledger_entry(document)
  local packed = redis.call('HGET', LEDGER, document)
  if packed then
    return string.match(packed, '^(%d+)|(%l)|(%d*)|(%d+)|(.*)$')
  end
end

local function is_leased_by(document, generation)
  if not is_leased(document) then
    return false
  end
  local _, _, holder = ledger_entry(document)
  return holder == generation
end

local function holds(document, generation)
  return math.floor(tonumber(generation) / 8589934592) == EPOCH and is_leased_by(document, generation)
end

-- Texts that the document's attempts have claimed are free again.
local function end_claims(document)
  local keys = redis.call('HGET', CLAIMED, document)
  if keys then
    for key in string.gmatch(keys, '[^,]+') do
      local claim = redis.call('HGET', CLAIMS, key)
      if claim and string.match(claim, '^%d+\n(.*)$') == document then
        redis.call('HDEL', CLAIMS, key)
      end
    end
    redis.call('HDEL', CLAIMED, document)
  end
end

-- Whether the role is held under this token.
local function is_held(role, token)
  local packed = redis.call('HGET', ROLES, role)
  local held, until_ms = string.match(packed or '', '^(%d+)|(%d+)|')
  return held == token and tonumber(until_ms) > NOW
end

-- Runs -------------------------------------------------------------------------------------------------------------------------------------

local function run_is_known(run)
  return run ~= '' and redis.call('EXISTS', RUN .. run) == 1
end

local function count_pending(run, change)
  if change ~= 0 and run_is_known(run) then
    redis.call('HINCRBY', RUN .. run, 'pending', change)
  end
end

-- counters: name=number,name=number
local function count(run, counters)
  if counters ~= '' and run_is_known(run) then
    for name, value in string.gmatch(counters, '([^=,]+)=(%-?%d+)') do
      redis.call('HINCRBY', RUN .. run, 'c:' .. name, value)
    end
  end
end

local function is_final(state)
  return state ~= 'scanning' and state ~= 'indexing'
end

local function forget_runs()
  local complete = redis.call('HGET', META, 'last_complete_run')
  for _, run in ipairs(redis.call('ZRANGE', RUNS, 0, -101)) do
    if run ~= complete then
      redis.call('ZREM', RUNS, run)
      redis.call('DEL', RUN .. run)
    end
  end
end

-- Tickets ----------------------------------------------------------------------------------------------------------------------------------

local function plan(document, lane, run, ticket)
  redis.call('HSET', LEDGER, document, ticket .. '|' .. lane .. '||0|' .. run)
  redis.call('ZADD', WAITING, ticket, document)
end

-- Releases the lease of a document; its ledger entry waits again, under the ticket that it has, which is returned.
local function wait_again(document)
  redis.call('ZREM', LEASES, document)
  end_claims(document)
  local ticket, lane, _, tries, run = ledger_entry(document)
  redis.call('HSET', LEDGER, document, table.concat({ticket, lane, '', tries, run}, '|'))
  redis.call('ZADD', WAITING, ticket, document)
  return ticket
end

-- Ends what a run had planned of a document that waits. One that was changed while it was in work keeps its ticket, which belongs to no run
-- any more. Returns whether it waits still.
local function leave_run(document)
  local ticket, lane, generation, tries, run = ledger_entry(document)
  count_pending(run, -1)
  if redis.call('SISMEMBER', DIRTY, document) == 1 then
    redis.call('HSET', LEDGER, document, table.concat({ticket, lane, generation, tries, ''}, '|'))
    return true
  end
  redis.call('HDEL', LEDGER, document)
  redis.call('ZREM', WAITING, document)
  return false
end

-- Suspects: crashes|fingerprint|reason. One that is known already keeps what is known against it.
local function suspect(document)
  redis.call('HSETNX', SUSPECTS, document, '0||')
end

-- Ends an attempt that holds its lease; returns the new live ticket of a dirty document, else ''.
local function end_attempt(document, ticket)
  redis.call('ZREM', LEASES, document)
  end_claims(document)
  local planned, _, _, _, run = ledger_entry(document)
  if planned == ticket then
    redis.call('HDEL', LEDGER, document)
    count_pending(run, -1)
  end
  if redis.call('SREM', DIRTY, document) == 0 then
    return ''
  end
  local new_ticket = numbered(redis.call('HINCRBY', META, 'tickets', 1))
  plan(document, 'l', '', new_ticket)
  return new_ticket
end

-- Entries: state|stat|size|marked|live|previous|reason, where a version is generation|commit|fingerprint|chunks, and a commit number@second
-- (hexadecimal) -----------------------------------------------------------------------------------------------------------------------------

local NO_VERSION = '|||'

local function parse_entry(packed)
  return string.match(packed, '^(%u)|([^|]*)|(%d*)|([01])|([^|]*|[^|]*|[^|]*|[^|]*)|([^|]*|[^|]*|[^|]*|[^|]*)|(.*)$')
end

local function pack_entry(state, stat, size, marked, live, previous, reason)
  return table.concat({state, stat, size, marked, live, previous, reason}, '|')
end

local function live_generation(packed)
  return string.match(packed, '^%u|[^|]*|%d*|[01]|(%d*)|')
end

local function is_live(document, generation)
  for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
    local packed = redis.call('HGET', ENTRIES .. set, document)
    if packed and live_generation(packed) == generation then
      return true
    end
  end
  return false
end

local function count_state(set, state, change)
  redis.call('HINCRBY', COUNTS .. set, 's:' .. state, change)
end

-- chunks: strategy=number,strategy=number
local function count_chunks(set, chunks, sign)
  for strategy, number in string.gmatch(chunks, '([^=,]+)=(%d+)') do
    if number ~= '0' then
      redis.call('HINCRBY', COUNTS .. set, 'c:' .. strategy, sign .. number)
    end
  end
end

-- Puts an entry in the place of one whose state was old_state, or of none; keeps the counts of states and the list of GONE documents.
local function put_entry(set, document, packed, state, old_state)
  redis.call('HSET', ENTRIES .. set, document, packed)
  if not old_state then
    redis.call('ZADD', IDS .. set, 0, document)
    redis.call('SADD', INDEX_SETS, set)
  end
  if old_state ~= state then
    if old_state then
      count_state(set, old_state, -1)
    end
    count_state(set, state, 1)
  end
  if state == 'G' then
    redis.call('ZADD', GONE .. set, int(NOW), document)
  elseif old_state == 'G' then
    redis.call('ZREM', GONE .. set, document)
  end
end

-- Gives the document's entry a state without a new version, in every index set that is served or has entries.
local function put_failed(document, state, stat, reason)
  local function put(set)
    local packed = redis.call('HGET', ENTRIES .. set, document)
    local old_state, size, marked, live, previous = nil, '0', '0', NO_VERSION, NO_VERSION
    if packed then
      local _
      old_state, _, size, marked, live, previous = parse_entry(packed)
    end
    put_entry(set, document, pack_entry(state, stat, size, marked, live, previous, reason), state, old_state)
  end
  local served = redis.call('HGET', META, 'served')
  if served then
    put(served)
  end
  for _, set in ipairs(redis.call('SMEMBERS', INDEX_SETS)) do
    if set ~= served and redis.call('EXISTS', ENTRIES .. set) == 1 then
      put(set)
    end
  end
end

-- Garbage: deleted_once|chunks|document, where chunks is set:counts;set:counts in order of the sets, or '-' without an intent ---------------

local function put_garbage(generation, deleted_once, chunks, document)
  redis.call('HSET', GARBAGE, generation, deleted_once .. '|' .. chunks .. '|' .. document)
  redis.call('ZADD', GARBAGE_TIMES, int(NOW), generation)
end

local function parse_garbage(packed)
  return string.match(packed, '^([01])|([^|]*)|(.*)$')
end

local function forget_garbage(generation)
  redis.call('HDEL', GARBAGE, generation)
  redis.call('ZREM', GARBAGE_TIMES, generation)
end

-- Order of bytes; Lua's own order of strings follows the server's locale.
local function is_before(one, other)
  for place = 1, math.min(#one, #other) do
    local first, second = string.byte(one, place), string.byte(other, place)
    if first ~= second then
      return first < second
    end
  end
  return #one < #other
end

-- Notes what a replaced generation had in one index set, beside what it is known to have in others.
local function note_replaced(document, generation, set, counts)
  local parts = {set .. ':' .. counts}
  local packed = redis.call('HGET', GARBAGE, generation)
  if packed then
    local _, chunks = parse_garbage(packed)
    if chunks ~= '-' then
      for name, others in string.gmatch(chunks, '([^:;]+):([^;]*)') do
        parts[#parts + 1] = name .. ':' .. others
      end
      table.sort(parts, is_before)
    end
  end
  put_garbage(generation, '0', table.concat(parts, ';'), document)
end

-- Long lists -------------------------------------------------------------------------------------------------------------------------------

-- HMGET in slices that Lua's stack can hold; calls visit(value) for each field in order.
local function for_each_value(key, names, first, visit)
  for start = first, #names, 1000 do
    local values = redis.call('HMGET', key, unpack(names, start, math.min(start + 999, #names)))
    for place = 1, #values do
      visit(values[place])
    end
  end
end

-----------------------------------------------------------------------------------------------------------------------------------------------
