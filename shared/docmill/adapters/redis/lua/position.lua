-- -> epoch, commit number, served index set ('' for none), entries of the ledger, when the last complete run ended ('' for never)
local found = redis.call('HMGET', META, 'commits', 'served', 'last_complete_run')
local finished = found[3] and redis.call('HGET', RUN .. found[3], 'finished_ms')
return {int(EPOCH), found[1] or '0', found[2] or '', redis.call('HLEN', LEDGER), finished or ''}
