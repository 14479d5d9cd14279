"""Embedding with reuse: a text that was embedded before is not embedded again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from docmill.domain.chunks import ChunkRecord, Vector
from docmill.domain.errors import ProviderPermanent, TextRefused
from docmill.indexing.summarising import Summaries
from docmill.ports.models import EmbeddingModel
from docmill.ports.stores import VectorStore

#: Texts in one call: a stop, a lost lease or a deadline is noticed between calls.
TEXTS_A_CALL: Final = 50


@dataclass(frozen=True, slots=True)
class Embedded:
    """Records with their vectors; how many distinct texts were embedded, and how many chunks took a stored vector."""

    records: list[ChunkRecord]
    embedded: int
    reused: int


def embed_records(
    records: Sequence[ChunkRecord],
    model: EmbeddingModel,
    store: VectorStore,
    indexes: Iterable[str],
    *,
    summaries: Summaries | None = None,
    texts_a_call: int = TEXTS_A_CALL,
    between: Callable[[], None] = lambda: None,
) -> Embedded:
    """Gives each record the vector of its ``indexed_text``, or of its summary.

    Args:
        records: chunks of one document.
        model: embeds what no index has.
        store: holds ``indexes``.
        indexes: looked up in order; all hold vectors of the same model.
        summaries: what is embedded in the place of the chunks; None embeds the chunks.
        texts_a_call: how many texts the model is given at once.
        between: called before each call of the model; may raise to end the work.

    Raises:
        TextRefused: the model does not take the text of a chunk; the message says which lines it has.
        ProviderError: the model failed.
    """
    found: dict[str, Vector] = {}
    missing = list(dict.fromkeys(record.text_hash for record in records))
    for index in indexes:
        if not missing:
            break
        found.update(store.vectors_of(index, missing))
        missing = [text_hash for text_hash in missing if text_hash not in found]
    wanted = set(missing)
    texts: dict[str, ChunkRecord] = {}
    for record in records:
        if record.text_hash in wanted:
            texts.setdefault(record.text_hash, record)
    waiting = list(texts.values())
    indexed_texts = [record.indexed_text for record in waiting] if summaries is None else summaries.texts_of(waiting)
    try:
        vectors = embed_here(model, indexed_texts, texts_a_call=texts_a_call, between=between)
    except TextRefused as refused:
        record = waiting[refused.place]
        raise TextRefused(f"{refused} (the text of lines {record.start_line} to {record.end_line})", refused.place) from refused
    found.update(zip(texts, vectors, strict=True))
    reused = sum(record.text_hash not in wanted for record in records)
    done = [replace(record, vector=found[record.text_hash]) for record in records]
    return Embedded(done if summaries is None else summaries.on(done), len(texts), reused)


def embed_here(
    model: EmbeddingModel, texts: Sequence[str], *, texts_a_call: int = TEXTS_A_CALL, between: Callable[[], None] = lambda: None
) -> list[Vector]:
    """The vectors of ``texts``, a few at a time; arguments and errors as ``embed_records``."""
    vectors: list[Vector] = []
    for start in range(0, len(texts), texts_a_call):
        between()
        part = texts[start : start + texts_a_call]
        try:
            made = model.embed_passages(part)
        except TextRefused as refused:
            raise TextRefused(str(refused), start + refused.place) from refused
        if len(made) != len(part):
            raise ProviderPermanent(f"{model.name} returned {len(made)} vectors for {len(part)} texts")
        vectors.extend(made)
    return vectors
