-- Gives no leave any more to a run. ARGV: clock, reason.
abort_run(ARGV[2])
expire_later()
return 1
