"""The one task."""

from collections.abc import Callable

import structlog
from celery import Celery

from docmill.adapters.redis.celery_app import TASK_NAME
from docmill.domain.errors import StoreDown
from docmill.domain.registry import TaskMessage

_log = structlog.get_logger(__name__)


def register_tasks(app: Celery, reconcile: Callable[[TaskMessage], None]) -> None:
    """Makes ``app`` carry out ``docmill.reconcile_document`` with ``reconcile``."""

    @app.task(name=TASK_NAME, shared=False)
    def reconcile_document(knowledge_base: str, document_id: str, ticket: int, **_later: object) -> None:
        """Makes one document's index state equal to its source; fields of later versions are ignored."""
        try:
            reconcile(TaskMessage(knowledge_base, document_id, ticket))
        except StoreDown as error:
            _log.warning("document_postponed", document_id=document_id, error=str(error), then="the ledger sends it again")
