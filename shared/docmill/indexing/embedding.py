"""Embedding with reuse: a text that was embedded before is not embedded again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from docmill.domain.chunks import ChunkRecord, Vector
from docmill.domain.errors import ProviderPermanent, TextRefused
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
    texts_a_call: int = TEXTS_A_CALL,
    between: Callable[[], None] = lambda: None,
) -> Embedded:
    """Gives each record the vector of its ``indexed_text``.

    Args:
        records: chunks of one document.
        model: embeds what no index has.
        store: holds ``indexes``.
        indexes: looked up in order; all hold vectors of the same model.
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
    vectors: list[Vector] = []
    waiting = list(texts.values())
    for start in range(0, len(waiting), texts_a_call):
        between()
        part = waiting[start : start + texts_a_call]
        try:
            made = model.embed_passages([record.indexed_text for record in part])
        except TextRefused as refused:
            first, last = part[refused.place].start_line, part[refused.place].end_line
            raise TextRefused(f"{refused} (the text of lines {first} to {last})", start + refused.place) from refused
        if len(made) != len(part):
            raise ProviderPermanent(f"{model.name} returned {len(made)} vectors for {len(part)} texts")
        vectors.extend(made)
    found.update(zip(texts, vectors, strict=True))
    reused = sum(record.text_hash not in wanted for record in records)
    return Embedded([replace(record, vector=found[record.text_hash]) for record in records], len(texts), reused)
