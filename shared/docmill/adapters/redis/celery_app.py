"""The Celery application: its settings, and the names of its queues and of its one task."""

from collections.abc import Mapping
from typing import Any, Final

from celery import Celery
from kombu import Queue

from docmill.adapters.redis.transport import use_lean_transport
from docmill.domain.registry import Lane

TASK_NAME: Final = "docmill.reconcile_document"
QUEUES: Final = {Lane.LIVE: "docmill.live", Lane.BULK: "docmill.bulk"}


def make_celery(
    broker_url: str,
    *,
    visibility_timeout_seconds: float,
    events: bool,
    transport_options: Mapping[str, Any] | None = None,
    use_ssl: Mapping[str, Any] | None = None,
) -> Celery:
    """An application for ``broker_url`` with the settings that the protocol stands on.

    No result backend, no countdowns, JSON only. A message that was lost or doubled is the ledger's affair.

    Args:
        broker_url: ``redis://``, ``rediss://``, ``sentinel://`` or ``redis+socket://``.
        visibility_timeout_seconds: after which an unacknowledged message is delivered again.
        events: whether workers tell Flower what they do.
        transport_options: of kombu's transport, beside those that are set here.
        use_ssl: how TLS is done; None without TLS.
    """
    use_lean_transport()
    app = Celery("docmill", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_queues=[Queue(name, routing_key=name) for name in QUEUES.values()],
        task_default_queue=QUEUES[Lane.BULK],
        task_create_missing_queues=False,
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_track_started=False,
        worker_send_task_events=events,
        task_send_sent_event=False,
        worker_prefetch_multiplier=8,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_soft_shutdown_timeout=10.0,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=events,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": visibility_timeout_seconds,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 5,
            "socket_keepalive": True,
            **(transport_options or {}),
        },
        broker_use_ssl=dict(use_ssl) if use_ssl is not None else False,
        enable_utc=True,
    )
    return app
