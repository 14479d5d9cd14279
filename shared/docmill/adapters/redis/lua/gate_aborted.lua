-- Why a run gets no leave any more, or nothing. ARGV: clock.
return of_run('aborted') or false
