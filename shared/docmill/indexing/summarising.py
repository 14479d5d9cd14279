"""Summarising: a chat model says what each chunk is about, and that is embedded in the place of the chunk's own text."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import TextRefused
from docmill.domain.knowledge_bases import StrategySpec
from docmill.domain.semantic_prompt import SYSTEM, summary_key
from docmill.ports.models import Caller, ChatModel
from docmill.ports.stores import VectorStore

#: Of a summary, where the configuration of the model does not say.
MAX_TOKENS: Final = 300
#: Summaries of one document that are asked for at once, where the configuration does not say.
AT_ONCE: Final = 4
#: Requests of one knowledge base that this process makes at once; how many are on their way in the fleet is the gate's matter.
_MOST_AT_ONCE: Final = 32
_KEPT: Final = 4096
_LOOK_SECONDS: Final = 0.5


class KeptSummaries:
    """The summaries that were written last in this process, by their keys; safe for several threads.

    They bridge the time until they are stored with their vectors: an attempt that ends before, since the embedding model's provider is to
    be left alone for example, has paid for them, and the next one need not.
    """

    def __init__(self, capacity: int = _KEPT) -> None:
        """Keeps at most ``capacity``."""
        self._capacity = capacity
        self._summaries: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, key: str, summary: str) -> None:
        """Keeps a summary, in the place of the one that was kept first when there are too many."""
        with self._lock:
            self._summaries[key] = summary
            while len(self._summaries) > self._capacity:
                self._summaries.popitem(last=False)

    def of(self, keys: Iterable[str]) -> dict[str, str]:
        """Those summaries that are kept."""
        with self._lock:
            return {key: self._summaries[key] for key in keys if key in self._summaries}


def summary_pool() -> Executor:
    """The threads in which a knowledge base's chat models are called; none runs before the first call."""
    return ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="docmill-summary")


@dataclass(frozen=True, slots=True)
class Summariser:
    """Writes the summaries of one strategy's chunks.

    Attributes:
        strategy: one with a chat model.
        model: that chat model.
        pool: in which the model is called; see ``summary_pool``.
        kept: with ``pool`` shared by the summarisers of a knowledge base.
    """

    strategy: StrategySpec
    model: ChatModel
    pool: Executor
    kept: KeptSummaries

    def write(self, records: Iterable[ChunkRecord], caller: Caller, *, between: Callable[[], None] = lambda: None) -> dict[str, str]:
        """The summaries of ``records``, by their keys; equal keys have one.

        Args:
            records: chunks of one document, whose ``text_hash`` is the key of their summary; see ``with_summary_keys``.
            caller: for whom the model is called.
            between: called while the model writes; may raise to end the work.

        Raises:
            TextRefused: the model refuses a chunk, or writes nothing for it; the message says which lines it has.
            ProviderError: the model failed.
        """
        chunks: dict[str, ChunkRecord] = {}
        for record in records:
            chunks.setdefault(record.text_hash, record)
        found = self.kept.of(chunks)
        wanted = [record for key, record in chunks.items() if key not in found]
        return found | self._written(wanted, self.model.on_behalf_of(caller), between)

    def _written(self, chunks: Sequence[ChunkRecord], model: ChatModel, between: Callable[[], None]) -> dict[str, str]:
        """When one fails, those that have not begun are left, and those that have are not waited for."""
        chat = self.strategy.chat_model
        at_once = AT_ONCE if chat is None or chat.max_concurrency is None else chat.max_concurrency
        coming = enumerate(chunks)
        waiting: dict[Future[str], str] = {}
        written: dict[str, str] = {}
        try:
            while True:
                for place, record in islice(coming, at_once - len(waiting)):
                    waiting[self.pool.submit(self._summary, model, place, record)] = record.text_hash
                if not waiting:
                    return written
                between()
                for future in wait(waiting, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED).done:
                    written[waiting.pop(future)] = future.result()
        finally:
            for future in waiting:
                future.cancel()

    def _summary(self, model: ChatModel, place: int, record: ChunkRecord) -> str:
        chat = self.strategy.chat_model
        max_tokens = MAX_TOKENS if chat is None or chat.max_tokens is None else chat.max_tokens
        try:
            summary = model.complete(self.strategy.prompt.for_chunk(record), max_tokens=max_tokens, system=SYSTEM).strip()
            if not summary:
                raise TextRefused(f"{model.name} wrote no text", place)
        except TextRefused as refused:
            lines = f"the summary of lines {record.start_line} to {record.end_line}"
            raise TextRefused(f"{refused} ({lines})", place) from refused
        self.kept.keep(record.text_hash, summary)
        return summary


@dataclass(slots=True)
class Summaries:
    """Those of one document's chunks that are embedded alike.

    Attributes:
        look_up: those that are stored; see ``stored_summaries``.
        write: those that have to be written; see ``Summariser.write``.
        found: by their keys.
    """

    look_up: Callable[[Sequence[ChunkRecord]], Mapping[str, str]]
    write: Callable[[Sequence[ChunkRecord]], Mapping[str, str]]
    found: dict[str, str] = field(default_factory=dict)

    def texts_of(self, records: Sequence[ChunkRecord]) -> list[str]:
        """The summary of each record; those that are not stored are written."""
        self._look_up(records)
        if missing := self._missing(records):
            self.found.update(self.write(missing))
        return [self.found[record.text_hash] for record in records]

    def on(self, records: Sequence[ChunkRecord]) -> list[ChunkRecord]:
        """``records`` with their summaries as ``indexed_text``, which is empty where one is lost although its vector is not."""
        self._look_up(records)
        return [replace(record, indexed_text=self.found.get(record.text_hash, "")) for record in records]

    def _look_up(self, records: Sequence[ChunkRecord]) -> None:
        if missing := self._missing(records):
            self.found.update(self.look_up(missing))

    def _missing(self, records: Sequence[ChunkRecord]) -> list[ChunkRecord]:
        return [record for record in records if record.text_hash not in self.found]


def with_summary_keys(strategy: StrategySpec, records: Sequence[ChunkRecord]) -> Sequence[ChunkRecord]:
    """``records`` with the keys of their summaries as ``text_hash``; unchanged for a strategy without a chat model."""
    shape = strategy.summary_shape
    if shape is None:
        return records
    return [replace(record, text_hash=summary_key(shape, strategy.prompt.used(record))) for record in records]


def stored_summaries(records: Iterable[ChunkRecord], store: VectorStore, indexes: Iterable[str]) -> dict[str, str]:
    """Those summaries of ``records`` that ``indexes`` hold, by their keys; the indexes are looked up in order, and are of one shape."""
    found: dict[str, str] = {}
    missing = list(dict.fromkeys(record.text_hash for record in records))
    for index in indexes:
        if not missing:
            break
        found.update((key, summary) for key, summary in store.indexed_texts_of(index, missing).items() if summary)
        missing = [key for key in missing if key not in found]
    return found
