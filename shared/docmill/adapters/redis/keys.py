"""The Redis keys of the protocol state of one knowledge base.

All names begin with ``docmill:{<kb>:0}:``: the braces put them into one hash slot, and the 0 leaves room for more shards. A script gets
that beginning as its only key and makes the names itself. ``*`` stands for the escaped name of an index set or the id of a run.

| name | type | what |
| --- | --- | --- |
| ``meta`` | hash | ``epoch``; ``attempts`` and ``tickets`` minted in it; ``commits``; ``served``; ``runs`` started; ``last_run``; |
| | | ``last_complete_run``; ``last_token`` of a role; ``server``: the run id of the one on which the |
| | | epoch was opened; ``clock_offset_ms``, by which tests shift the clock |
| ``index_sets`` | set | index sets that have or had entries |
| ``entries:*`` | hash | document -> packed entry |
| ``ids:*`` | sorted set | the documents of ``entries:*``, all at 0: their order is that of their bytes |
| ``gone:*`` | sorted set | GONE documents by the time at which they went |
| ``counts:*`` | hash | ``s:<state letter>`` -> documents, ``c:<strategy>`` -> live chunks |
| ``leases`` | sorted set | documents by the time at which their lease runs out; the ledger says which generation holds it |
| ``dirty`` | set | leased documents that were changed since their attempt began |
| ``claims`` | hash | key of a text that is being embedded -> generation and document of the attempt; void once that holds no lease |
| ``claimed`` | hash | document -> the keys that its attempts have claimed, with commas between |
| ``kept:*`` | string | 32-bit floats in base64, one vector that was paid for by an attempt that could not use it; ``*`` is the key of its |
| | | text; forgotten after a day |
| ``garbage`` | hash | generation -> packed garbage |
| ``garbage_times`` | sorted set | the same generations by the time at which they were noted or last deleted |
| ``ledger`` | hash | document -> ticket, lane, generation once it has begun, tries, run |
| ``suspects`` | hash | documents over which a worker died -> crashes when alone, fingerprint of what crashed, reason of the quarantine |
| ``waiting`` | sorted set | documents of the ledger that have not begun, by ticket |
| ``run:*`` | hash | ``state``, ``started_ms``, ``finished_ms``, ``retry_ms`` while it backs off, ``error``, ``pending``, |
| | | ``wants_another_pass``, ``c:<counter>`` |
| ``runs`` | sorted set | run ids by number |
| ``roles`` | hash | role -> token, end, holder |
| ``notes`` | hash | short texts by name: how an index set is configured, which one is being built |

What else docmill has on the server: the gates of providers (``lua/gate_state.lua`` has their table), API keys and the counts of their
requests (``api_keys.py``), and what Celery keeps for the two
queues of ``celery_app.py``, above all ``unacked`` (hash) and ``unacked_index`` (sorted set): messages that workers have taken.

Times are milliseconds of the server's clock. A document costs its packed entry and its id twice (in ``entries`` and ``ids``), with about
100 bytes of Redis's own: thanks to the sorted set a page of a million documents takes a millisecond, where sorting a hash takes seconds.

The scripts use only what Redis 6.2 has: ``DEL EXISTS EXPIRE GET HDEL HEXISTS HGET HGETALL HINCRBY HLEN HMGET HSET HSETNX HVALS SADD SET
SISMEMBER SMEMBERS SREM TIME UNLINK ZADD ZCARD ZCOUNT ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZREM ZREMRANGEBYSCORE ZSCORE ZUNIONSTORE``, and
``redis.call`` and ``redis.error_reply`` of its Lua.
"""

from typing import Final

#: The names by which the scripts know the keys.
NAMES: Final = {
    "META": "meta",
    "INDEX_SETS": "index_sets",
    "ENTRIES": "entries:",
    "IDS": "ids:",
    "GONE": "gone:",
    "COUNTS": "counts:",
    "LEASES": "leases",
    "DIRTY": "dirty",
    "CLAIMS": "claims",
    "CLAIMED": "claimed",
    "KEPT": "kept:",
    "GARBAGE": "garbage",
    "GARBAGE_TIMES": "garbage_times",
    "LEDGER": "ledger",
    "SUSPECTS": "suspects",
    "WAITING": "waiting",
    "RUN": "run:",
    "RUNS": "runs",
    "ROLES": "roles",
    "NOTES": "notes",
}

#: The field of ``meta`` that is added to the server's clock.
CLOCK_OFFSET_FIELD: Final = "clock_offset_ms"


def prefix_of(kb: str) -> str:
    """What every key of a knowledge base begins with."""
    return f"docmill:{{{kb}:0}}:"


def lua_names() -> str:
    """The names as Lua, to stand before every script."""
    return "".join(f"local {name} = KEYS[1] .. '{suffix}'\n" for name, suffix in NAMES.items())
