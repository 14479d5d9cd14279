"""Names of what docmill keeps in Elasticsearch.

=============================  ==========================================================================
``docmill-chunks-<index>``     alias of one index of the port; every request goes to the alias
``docmill-index-<index>``      the index itself
``docmill-state``              alias of the store's own record (its identity and epoch)
``docmill-state-1``            the index of that record
=============================  ==========================================================================

A write names an alias and says ``require_alias``, so the server never makes an index by itself: one made so would have no mapping.
"""

from typing import Final

CHUNKS: Final = "docmill-chunks-"
_INDEX: Final = "docmill-index-"
STATE_ALIAS: Final = "docmill-state"
STATE_INDEX: Final = "docmill-state-1"


def alias_of(index: str) -> str:
    """What requests for ``index`` name."""
    return CHUNKS + index


def physical_of(index: str) -> str:
    """The server's index."""
    return _INDEX + index
