-- -> how many entries wait, how many have begun
local waiting = redis.call('ZCARD', WAITING)
return {waiting, redis.call('HLEN', LEDGER) - waiting}
