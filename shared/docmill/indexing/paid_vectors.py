"""Paid vectors: those of a document that providers make, each text paid for once in the whole fleet."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from docmill.domain.chunks import ChunkRecord, Vector
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.indexing.embedding import Embedded, look_up, make_vectors
from docmill.indexing.summarising import Summaries
from docmill.ports.models import EmbeddingModel
from docmill.ports.stores import VectorStore


@dataclass(frozen=True, slots=True)
class Need:
    """What one strategy in one index set needs vectors for.

    Attributes:
        records: of the document, without vectors.
        model: makes what no index has; ``spec`` describes it.
        shape: everything that decides which vector a text gets.
        store: holds ``indexes``.
        indexes: looked up in order; all hold vectors of this shape.
        summaries: what is embedded in the place of the chunks; None embeds the chunks.
    """

    records: Sequence[ChunkRecord]
    model: EmbeddingModel
    spec: EmbeddingModelSpec
    shape: Mapping[str, object]
    store: VectorStore
    indexes: Sequence[str]
    summaries: Summaries | None = None


@dataclass(slots=True)
class _Shape:
    """What the needs of one shape have together."""

    key: str
    needs: list[int] = field(default_factory=list)
    missing: dict[str, ChunkRecord] = field(default_factory=dict)
    found: dict[str, Vector] = field(default_factory=dict)

    def look_up(self, need: Need) -> None:
        found, self.missing = look_up(self.missing, need.store, need.indexes)
        self.found.update(found)

    def claims(self) -> list[str]:
        return [hashlib.blake2b(f"{self.key}\n{text_hash}".encode(), digest_size=12).hexdigest() for text_hash in self.missing]


class Payment:
    """The texts of one document that no index has a vector of, claimed for its attempt: nobody else pays for them meanwhile."""

    def __init__(self, needs: Sequence[Need], shapes: Sequence[_Shape]) -> None:
        """Use ``claim_texts``."""
        self._needs = needs
        self._shapes = shapes

    def only_texts(self) -> tuple[Need, list[str]] | None:
        """The texts, and a need of their vectors, where one model is asked for all of them as they are; otherwise None."""
        missing = [shape for shape in self._shapes if shape.missing]
        if len(missing) != 1:
            return None
        need = self._needs[missing[0].needs[0]]
        return None if need.summaries is not None else (need, [record.indexed_text for record in missing[0].missing.values()])

    def embedded(self, embed: Callable[[Need, Sequence[str]], list[Vector]]) -> list[Embedded]:
        """The records of each need with their vectors, in the order of the needs.

        Args:
            embed: the vectors of texts by a need's model.

        Raises:
            TextRefused: the model does not take the text of a chunk; the message says which lines it has.
            ProviderError: a model failed.
        """
        done: dict[int, Embedded] = {}
        for shape in self._shapes:
            first = self._needs[shape.needs[0]]
            shape.found.update(make_vectors(shape.missing, first.summaries, partial(embed, first)))
            unpaid = set(shape.missing)
            for place in shape.needs:
                records = [replace(record, vector=shape.found[record.text_hash]) for record in self._needs[place].records]
                if first.summaries is not None:
                    records = first.summaries.on(records)
                paid = unpaid & {record.text_hash for record in records}
                unpaid -= paid
                done[place] = Embedded(records, len(paid), sum(record.text_hash not in paid for record in records))
        return [done[place] for place in range(len(self._needs))]


def claim_texts(needs: Sequence[Need], *, claim: Callable[[Sequence[str]], bool], wait: Callable[[int], None]) -> Payment:
    """Looks up what the indexes have for ``needs``, and claims the rest, all together, so that no two documents wait for each other.

    Args:
        needs: of one document.
        claim: ``RunLedger.claim`` for its attempt.
        wait: called with 1, 2, 3 ... while another attempt has claimed one of the texts; may raise to end the work.
    """
    shapes = _shapes_of(needs)
    tries = 0
    while True:
        for shape in shapes:
            shape.look_up(needs[shape.needs[0]])
        keys = [key for shape in shapes for key in shape.claims()]
        if not keys:
            break
        if claim(keys):
            for shape in shapes:  # what was committed between the look and the claim
                shape.look_up(needs[shape.needs[0]])
            break
        tries += 1
        wait(tries)
    return Payment(needs, shapes)


def _shapes_of(needs: Sequence[Need]) -> list[_Shape]:
    shapes: dict[str, _Shape] = {}
    for place, need in enumerate(needs):
        key = json.dumps(need.shape, sort_keys=True)
        shape = shapes.setdefault(key, _Shape(key))
        shape.needs.append(place)
        for record in need.records:
            shape.missing.setdefault(record.text_hash, record)
    return list(shapes.values())
