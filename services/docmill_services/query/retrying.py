"""Which documents are tried again, and how: named ones at once, all others by the next run, which keeps to its window."""

from collections.abc import Sequence
from typing import Final

from docmill.domain.errors import DocumentUnknown
from docmill.domain.registry import DocumentState
from docmill_services.query.backend import Backend
from docmill_services.query.render import run_reply
from docmill_services.query.responses import RetryReply

_PAGE: Final = 1000


def retry_all(backend: Backend) -> RetryReply:
    """Starts a run that tries every failed and every quarantined document again; none when there are none."""
    index_set = backend.registry.position().index_set
    stored = backend.registry.counts(index_set)[0] if index_set is not None else {}
    count = stored.get(DocumentState.FAILED, 0) + stored.get(DocumentState.QUARANTINED, 0)
    if index_set is None or not count:
        return RetryReply(documents=0, run=None)
    after = ""
    while page := backend.registry.page(index_set, after=after, limit=_PAGE, state=DocumentState.QUARANTINED):
        backend.ledger.retry([document_id for document_id, _ in page])
        after = page[-1][0]
    return RetryReply(documents=count, run=run_reply(backend.start_run()))


def retry_some(backend: Backend, document_ids: Sequence[str]) -> RetryReply:
    """Plans those of the documents that failed or are quarantined.

    Raises:
        DocumentUnknown: the served index set does not have one of them.
    """
    index_set = backend.registry.position().index_set
    wanted = list(dict.fromkeys(document_ids))
    known = backend.registry.entries(index_set, wanted)[1] if index_set is not None else {}
    for document_id in wanted:
        if document_id not in known or known[document_id].state is DocumentState.GONE:
            raise DocumentUnknown(f"no document {document_id[:200]!r} in knowledge base {backend.settings.name!r}")
    tried = backend.ledger.retry(wanted)
    backend.plan(tried)
    return RetryReply(documents=len(tried), run=None)
