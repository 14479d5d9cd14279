"""Kombu's Redis transport, with few round trips: messages are taken and acknowledged many at once.

Kombu itself waits for each message alone, writes it alone to the hash of unacknowledged messages, takes it out alone, and makes two
``redis.Redis`` objects on the way: about half a millisecond of the interpreter for each message. The keys and what is in them stay
Kombu's own, so other Celery workers and tools see nothing new.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty
from typing import Any, Final

import structlog
from kombu.transport import TRANSPORT_ALIASES, virtual
from kombu.transport import redis as kombu_redis

_log = structlog.get_logger(__name__)
#: The stubs know next to nothing of what these classes have.
_QoS: Any = kombu_redis.QoS
_Channel: Any = kombu_redis.Channel
#: How long an acknowledgement waits for company.
_ACKNOWLEDGE_SECONDS: Final = 0.05
#: Messages taken at once where the consumer has no bound.
_MOST_AT_ONCE: Final = 100


class QoS(_QoS):  # type: ignore[misc]  # of no known type
    """Unacknowledged messages, written and removed in batches."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._acknowledged: list[str] = []
        self._is_full = False

    def can_consume(self) -> bool:
        """Whether to take messages: once full, not before half of them have ended, so that they are taken many at once."""
        most = self.prefetch_count
        if not most:
            return True
        held = len(self._delivered) - len(self._dirty)
        self._is_full = held > most // 2 if self._is_full else held >= most
        return not self._is_full

    def room(self) -> int:
        """How many messages may be taken now."""
        return max(0, self.prefetch_count - len(self._delivered) + len(self._dirty)) if self.prefetch_count else _MOST_AT_ONCE

    def append_all(self, texts: Sequence[str], messages: Sequence[Mapping[str, Any]]) -> None:
        """Keeps messages, given with their texts, until they are acknowledged; ``append`` has nothing left to do for them."""
        self._flush()
        packed = {}
        for text, message in zip(texts, messages, strict=True):
            properties = message["properties"]
            delivery = properties["delivery_info"]
            packed[properties["delivery_tag"]] = f"[{text}, {json.dumps(delivery['exchange'])}, {json.dumps(delivery['routing_key'])}]"
        with self.pipe_or_acquire() as pipe:
            pipe.zadd(self.unacked_index_key, dict.fromkeys(packed, time.time())).hset(self.unacked_key, mapping=packed).execute()
        # From here on they go back to their queue when the channel is closed, delivered or not.
        self._delivered.update(dict.fromkeys(packed))

    def append(self, message: Any, delivery_tag: str) -> None:
        """Keeps a message until it is acknowledged."""
        if delivery_tag in self._delivered:
            virtual.QoS.append(self, message, delivery_tag)
        else:
            super().append(message, delivery_tag)

    def ack(self, delivery_tag: str) -> None:
        """Ends a message here at once, and on the server a moment later; to be called by the thread of the event loop."""
        virtual.QoS.ack(self, delivery_tag)
        self._acknowledged.append(delivery_tag)
        loop = getattr(self.channel.connection, "loop", None)
        if loop is None or len(self._acknowledged) >= _MOST_AT_ONCE:
            self.send_acknowledgements()
        elif len(self._acknowledged) == 1:
            loop.call_later(_ACKNOWLEDGE_SECONDS, self.send_acknowledgements)

    def send_acknowledgements(self) -> None:
        """Removes from the server what has ended; without it, it comes again after the visibility timeout, and the ledger drops it."""
        tags, self._acknowledged = self._acknowledged, []
        if not tags or self.channel.connection is None:
            return  # what a closed channel still held is in its queue again
        try:
            with self.pipe_or_acquire() as pipe:
                pipe.zrem(self.unacked_index_key, *tags).hdel(self.unacked_key, *tags).execute()
        except self.channel.connection_errors as error:
            _log.warning("messages_not_acknowledged", count=len(tags), error=str(error), then="they come again")


class Channel(_Channel):  # type: ignore[misc]  # of no known type
    """A channel that takes as many messages as it may at once, and keeps the client through which it appends and acknowledges."""

    QoS = QoS
    _kept_client: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._acknowledged_queues: set[str] = set()
        super().__init__(*args, **kwargs)

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """``client``, or the channel's own; its pool hands out one connection per use, as for a new client."""
        if client is None:
            kept = self._kept_client
            if kept is None or kept.connection_pool is not self.pool:
                kept = self._kept_client = self._create_client()
            client = kept
        yield client

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        """Consumes from ``queue``."""
        if not no_ack:
            self._acknowledged_queues.add(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def _brpop_read(self, **options: Any) -> bool:
        """Delivers the message that was waited for, and what else is there and fits."""
        try:
            try:
                found = self.client.parse_response(self.client.connection, "BRPOP", **options)
            except self.connection_errors:
                self.client.connection.disconnect()
                raise
            if not found:
                raise Empty
            key, first = found
            queue = key.decode().rsplit(self.sep, 1)[0]
            self._queue_cycle.rotate(queue)
            texts = [first.decode()]
            room = 0 if self._closing else self.qos.room() - 1
            if room > 0:
                with self.conn_or_acquire() as client:
                    texts += [text.decode() for text in client.rpop(key, room) or ()]
            messages = [json.loads(text) for text in texts]
            if queue in self._acknowledged_queues:
                self.qos.append_all(texts, messages)
            for message in messages:
                self.connection._deliver(message, queue)
            return True
        finally:
            self._in_poll = None
            self._flush_brpop_reauth()

    def close(self) -> None:
        """Closes the channel; what has ended is acknowledged first."""
        if self._qos is not None and not self.closed:
            self._qos.send_acknowledgements()
        super().close()


class Transport(kombu_redis.Transport):
    """The Redis transport with that channel."""

    Channel = Channel
    #: The event loop of the worker, once there is one.
    loop: Any = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """See Kombu."""
        self.loop = loop
        super().register_with_event_loop(connection, loop)


def use_lean_transport() -> None:
    """Makes every ``redis`` broker URL of this process use it."""
    TRANSPORT_ALIASES["redis"] = f"{__name__}:Transport"
