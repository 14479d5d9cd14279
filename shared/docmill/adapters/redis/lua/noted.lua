-- noted(key): a list of the text or nil.
return redis.call('HMGET', NOTES, ARGV[1])
