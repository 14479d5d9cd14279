-- -> epoch, commit number, served index set ('' for none)
local found = redis.call('HMGET', META, 'commits', 'served')
return {int(EPOCH), found[1] or '0', found[2] or ''}
