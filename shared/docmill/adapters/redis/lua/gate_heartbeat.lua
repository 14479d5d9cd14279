-- Keeps a holder's slots. ARGV: clock, holder, then slots to free (those whose fate the caller never learned).
keep(ARGV[2])
free_all(3)
expire_later()
return 1
