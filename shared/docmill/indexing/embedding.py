"""Embedding with reuse: a text that was embedded before is not embedded again."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
    wanted: dict[str, ChunkRecord] = {}
    for record in records:
        wanted.setdefault(record.text_hash, record)
    found, missing = look_up(wanted, store, indexes)
    found.update(make_vectors(missing, summaries, partial(embed_here, model, texts_a_call=texts_a_call, between=between)))
    reused = sum(record.text_hash not in missing for record in records)
    done = [replace(record, vector=found[record.text_hash]) for record in records]
    return Embedded(done if summaries is None else summaries.on(done), len(missing), reused)


def look_up(
    wanted: Mapping[str, ChunkRecord], store: VectorStore, indexes: Iterable[str]
) -> tuple[dict[str, Vector], dict[str, ChunkRecord]]:
    """The vectors that ``indexes`` have of what is ``wanted``, by the hashes of the texts, and what of it none has."""
    found: dict[str, Vector] = {}
    missing = dict(wanted)
    for index in indexes:
        if not missing:
            break
        found.update(store.vectors_of(index, list(missing)))
        missing = {text_hash: record for text_hash, record in missing.items() if text_hash not in found}
    return found, missing


def make_vectors(
    missing: Mapping[str, ChunkRecord], summaries: Summaries | None, embed: Callable[[Sequence[str]], list[Vector]]
) -> dict[str, Vector]:
    """The vectors of what no index has, by the hashes of the texts.

    Args:
        missing: a record of each text.
        summaries: what is embedded in the place of the texts; None embeds those.
        embed: makes the vectors of texts; is called only where some are missing.

    Raises:
        TextRefused: the model does not take one of them; the message says which lines it has.
        ProviderError: a model failed.
    """
    records = list(missing.values())
    if not records:
        return {}
    texts = [record.indexed_text for record in records] if summaries is None else summaries.texts_of(records)
    try:
        vectors = embed(texts)
    except TextRefused as refused:
        record = records[refused.place]
        raise TextRefused(f"{refused} (the text of lines {record.start_line} to {record.end_line})", refused.place) from refused
    return dict(zip(missing, vectors, strict=True))


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
