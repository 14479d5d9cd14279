"""Faults at a named point of a worker's work, once over all processes; ``support.fault_points`` says which there are."""

import os
import signal
import time
from typing import Any


def _is_first() -> bool:
    try:
        os.close(os.open(os.environ["DOCMILL_TEST_FAULT_ONCE"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _die() -> None:
    if _is_first():
        os.kill(os.getpid(), signal.SIGKILL)


def _before(owner: Any, name: str) -> None:
    plain = getattr(owner, name)

    def dying(self: Any, *args: Any, **kwargs: Any) -> Any:
        _die()
        return plain(self, *args, **kwargs)

    setattr(owner, name, dying)


def _after(owner: Any, name: str) -> None:
    plain = getattr(owner, name)

    def dying(self: Any, *args: Any, **kwargs: Any) -> Any:
        answer = plain(self, *args, **kwargs)
        _die()
        return answer

    setattr(owner, name, dying)


def plant() -> None:
    """Plants the fault that the environment names."""
    point = os.environ.get("DOCMILL_TEST_FAULT")
    if point is None:
        return
    from docmill.adapters.elasticsearch.lexical_store import ElasticsearchLexicalStore
    from docmill.adapters.qdrant.vector_store import QdrantVectorStore
    from docmill.adapters.redis.state_registry import RedisRegistry
    from docmill.documents import loading

    if point == "before_the_first_write":
        _before(QdrantVectorStore, "write")
    elif point == "between_the_writes":
        _before(ElasticsearchLexicalStore, "write")
    elif point == "before_the_commit":
        _before(RedisRegistry, "commit")
    elif point == "after_the_commit":
        _after(RedisRegistry, "commit")
    elif point == "slow_loads":
        load = loading.load

        def slow_load(document_id: str, content: bytes) -> object:
            time.sleep(float(os.environ["DOCMILL_TEST_SLOW_SECONDS"]))
            return load(document_id, content)

        loading.load = slow_load  # type: ignore[assignment]
    else:
        raise ValueError(point)
